// Puts the pages of the site into one folder, from which VitePress builds: docs/, the pages that they lead to elsewhere
// in the repository, and the programs that they name. Each English page gets a Portuguese one, by translation or as it is.
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, normalize, posix } from 'node:path'
import { changeLinks, headingsOf, isLocal } from './markdown.mjs'
import { contentOf, docsPages, fileBehind, pageOf } from './pages.mjs'
import { notTranslated } from './texts.mjs'

const ALSO = [
  'README.md',
  'README.pt-BR.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'deploy/README.md',
]

/** Writes the pages into `target`, and returns how many there are. */
export function stage(root, target) {
  const english = new Map()
  const portuguese = new Map()
  const waiting = [...docsPages(root), ...ALSO]
  const known = new Set(waiting)
  for (const path of waiting) {
    const { page, portuguese: translated } = pageOf(path)
    const content = changeLinks(contentOf(root, path), (link) => {
      const file = fileOfLink(root, path, link)
      if (file === undefined) return link
      if (file.endsWith('.png')) return `/images/${basename(file)}`
      if (!known.has(file)) {
        known.add(file)
        waiting.push(file)
      }
      return linkBetween(page, pageOf(file).page) + anchorIn(link)
    })
    ;(translated ? portuguese : english).set(page, content)
  }
  for (const [page, content] of english) {
    write(target, page, content)
    write(target, `pt-BR/${page}`, portuguese.get(page) ?? inEnglish(page, content, { english, portuguese }))
  }
  cpSync(join(root, 'docs/images'), join(target, 'public/images'), { recursive: true })
  cpSync(join(root, 'console/public/icon.svg'), join(target, 'public/icon.svg'))
  return 2 * english.size
}

const anchorIn = (link) => (link.includes('#') ? link.slice(link.indexOf('#')) : '')

/** The file of the repository that a link of a page leads to; undefined for other hosts and the page itself. */
function fileOfLink(root, path, link) {
  const [target] = link.split('#')
  if (!isLocal(link) || target === '') return undefined
  const file = normalize(join(dirname(path), target)).replace(/\/$/, '')
  if (!existsSync(join(root, file))) throw new Error(`${path} leads to ${link}, which does not exist`)
  return fileBehind(root, file)
}

function linkBetween(from, to) {
  const link = posix.relative(posix.dirname(from), `${to}.md`)
  return link.startsWith('.') ? link : `./${link}`
}

/**
 * The English content under a note in Portuguese, below the title. Headings of translated pages have other anchors, so its
 * links to them change.
 */
function inEnglish(page, content, { english, portuguese }) {
  const linked = changeLinks(content, (link) => {
    const [target, anchor] = link.split('#')
    const to = posix.join(posix.dirname(page), target.replace(/\.md$/, ''))
    if (anchor === undefined || target === '' || !portuguese.has(to)) return link
    const number = headingsOf(english.get(to)).findIndex((heading) => heading.anchor === anchor)
    return `${target}#${headingsOf(portuguese.get(to))[number]?.anchor ?? anchor}`
  })
  return notTranslated(linked)
}

function write(target, page, content) {
  const file = join(target, `${page}.md`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
