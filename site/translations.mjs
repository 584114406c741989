// Portuguese pages are docs/pt-BR/PAGE for docs/PAGE. They must not drift from the English ones: the same headings, the same
// blocks of code, the same links, each to the Portuguese page when there is one.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { codeBlocksOf, headingsOf, isLocal, linksOf } from './markdown.mjs'
import { docsPages, TRANSLATIONS } from './pages.mjs'

/** Folders and pages of docs/ that exist only in English. */
const ENGLISH_ONLY = [
  'adr/',
  'reference/',
  'runbooks/',
  'cost.md',
  'departures.md',
  'design-decisions.md',
  'performance.md',
  'proofs.md',
]

/** The pages of docs/ that have a translation, or lack one. */
export const translatedPages = (root) =>
  docsPages(root).filter(
    (path) => !path.startsWith(TRANSLATIONS) && !ENGLISH_ONLY.some((one) => path.startsWith(`docs/${one}`)),
  )

export const portugueseOf = (path) =>
  path === 'README.md' ? 'README.pt-BR.md' : path.replace(/^docs\//, TRANSLATIONS)

export const englishOf = (path) =>
  path === 'README.pt-BR.md'
    ? 'README.md'
    : path.startsWith(TRANSLATIONS)
      ? `docs/${path.slice(TRANSLATIONS.length)}`
      : path

/** The page in Portuguese, if there is one. */
export const bestOf = (root, path) => (existsSync(join(root, portugueseOf(path))) ? portugueseOf(path) : path)

/** What differs between a page and its translation, in words; empty when nothing does. */
export function differences(root, path) {
  const translation = portugueseOf(path)
  if (!existsSync(join(root, translation))) return [`${translation} does not exist`]
  const [english, portuguese] = [path, translation].map((one) => readFileSync(join(root, one), 'utf8'))
  const found = []
  const compare = (what, of) => {
    const [expected, actual] = [of(english, path), of(portuguese, translation)]
    const place = expected.findIndex((one, i) => one !== actual[i])
    if (place === -1 && expected.length === actual.length) return
    const [missing, instead] =
      place === -1 ? ['nothing', actual[expected.length]] : [expected[place], actual[place]]
    found.push(`${translation}: ${what}: expected ${missing}, found ${instead ?? 'nothing'}`)
  }
  compare('headings', (page) => headingsOf(page).map(({ level }) => `a heading of level ${level}`))
  compare('code', codeBlocksOf)
  compare('rows of tables', (page) => [
    `${page.split('\n').filter((line) => line.startsWith('|')).length} rows`,
  ])
  compare('links', (page, from) => placesOf(root, page, from))
  return found
}

/** Where the links of a page lead, in a form that is the same for both languages. */
function placesOf(root, page, from) {
  const places = linksOf(page).map((link) => {
    if (!isLocal(link)) return link
    const [target, anchor] = link.split('#')
    const file = target === '' ? from : normalize(join(dirname(from), target)).replace(/\/$/, '')
    const heading = anchor === undefined ? '' : ` heading ${headingNumber(root, file, anchor)}`
    const isBest = from === englishOf(from) || target === '' || bestOf(root, englishOf(file)) === file
    return `${englishOf(file)}${heading}${isBest ? '' : ' (in English, although there is a translation)'}`
  })
  return places.filter((place) => !/^README/.test(place) || place.includes('heading')).sort()
}

function headingNumber(root, file, anchor) {
  const path = join(root, file)
  if (!existsSync(path)) return `of a file that does not exist (${file})`
  const number = headingsOf(readFileSync(path, 'utf8')).findIndex((heading) => heading.anchor === anchor)
  return number === -1 ? `that does not exist (${anchor})` : number
}

/** The link that a translation should have, given the one of the English page or an older one of its own. */
export function alignedLink(root, translation, link) {
  if (!isLocal(link)) return link
  const [target, anchor] = link.split('#')
  const from = englishOf(translation)
  const seen = [from, translation].map((page) =>
    target === '' ? from : normalize(join(dirname(page), target)),
  )
  const file = seen.find((one) => !one.startsWith('..') && existsSync(join(root, one)))
  if (file === undefined) return link
  const english = englishOf(file)
  const best = bestOf(root, english)
  const to = target === '' ? '' : relative(dirname(translation), best) + (target.endsWith('/') ? '/' : '')
  return anchor === undefined ? to : `${to}#${anchorIn(root, english, best, anchor)}`
}

function anchorIn(root, english, best, anchor) {
  const anchorsOf = (path) =>
    headingsOf(readFileSync(join(root, path), 'utf8')).map((heading) => heading.anchor)
  const number = anchorsOf(english).indexOf(anchor)
  return number === -1 ? anchor : (anchorsOf(best)[number] ?? anchor)
}
