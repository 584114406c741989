// The links of a built site: every page and file of the site that a page names must exist, every anchor too, and nothing may be
// loaded from another host.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

const TAGS = /<(a|link|script|img|source)\b[^>]*?\s(?:href|src)="([^"]*)"/g
const IDS = /\sid="([^"]*)"/g

function pagesIn(folder, below = '') {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(below, entry.name)
    if (entry.isDirectory()) return pagesIn(folder, path)
    return path.endsWith('.html') ? [path] : []
  })
}

const plain = (text) =>
  decodeURIComponent(text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'"))

/** What is wrong in the site under `folder`, served under the path `base`. Empty when all is well. */
export function brokenInSite(folder, base = '/') {
  const pages = new Map(pagesIn(folder).map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
  const ids = new Map()
  const idsOf = (path) => {
    if (!ids.has(path)) ids.set(path, new Set([...pages.get(path).matchAll(IDS)].map(([, id]) => plain(id))))
    return ids.get(path)
  }
  const broken = []
  for (const [path, html] of pages) {
    const seen = new Set([...html.matchAll(TAGS)].map(([, tag, target]) => `${tag} ${target}`))
    for (const one of seen) {
      const [tag, target] = one.split(' ')
      const wrong = wrongWith(folder, base, { path, tag, target: plain(target ?? '') }, idsOf)
      if (wrong !== undefined) broken.push(`${path}: ${target} ${wrong}`)
    }
  }
  return broken
}

function wrongWith(folder, base, { path, tag, target }, idsOf) {
  if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target)) {
    return tag === 'a' || target.startsWith('data:') ? undefined : 'is on another host'
  }
  const [address, anchor] = target.split('#')
  if (address.startsWith('/') && !address.startsWith(base)) return 'is outside of the site'
  const named = address.startsWith('/')
    ? address.slice(base.length)
    : posix.join(posix.dirname(path), address)
  const file = address === '' ? path : asFile(folder, named)
  if (!existsSync(join(folder, file))) return 'does not exist'
  if (anchor === undefined || anchor === '' || !file.endsWith('.html')) return undefined
  return idsOf(file).has(anchor) ? undefined : 'has no such heading'
}

function asFile(folder, path) {
  const isFolder =
    path === '' ||
    path.endsWith('/') ||
    (existsSync(join(folder, path)) && statSync(join(folder, path)).isDirectory())
  return isFolder ? posix.join(path, 'index.html') : path
}
