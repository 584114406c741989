// For translators: `node site/align-links.mjs` makes the links of the Portuguese pages lead to Portuguese pages and headings
// where there are some. A translator copies the links of the English page, and the blocks of code: a line `@@` stands for the
// next block of the English page.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { changeLinks, codeBlocksOf } from './markdown.mjs'
import { alignedLink, differences, portugueseOf, translatedPages } from './translations.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = ['README.md', ...translatedPages(root)].filter((path) =>
  existsSync(join(root, portugueseOf(path))),
)

for (const path of pages) {
  const file = join(root, portugueseOf(path))
  const blocks = codeBlocksOf(readFileSync(join(root, path), 'utf8'))
  const page = readFileSync(file, 'utf8').replace(/^ *@@$/gm, () => blocks.shift() ?? '@@')
  writeFileSync(file, page)
}
for (const path of pages) {
  const translation = portugueseOf(path)
  const page = readFileSync(join(root, translation), 'utf8')
  writeFileSync(
    join(root, translation),
    changeLinks(page, (link) => alignedLink(root, translation, link)),
  )
}
for (const path of pages) for (const line of differences(root, path)) console.error(line)
