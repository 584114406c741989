// Builds the site of the documentation into dist/site: `npm run docs:site`. Needs a build of the product, because the
// reference of the library comes from its declarations.
//   --base /catraca/   the path under which the site will be served
//   --out DIRECTORY    another folder for the result
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { brokenInSite } from './built-links.mjs'
import { stage } from './stage.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options } = parseArgs({
  options: {
    base: { type: 'string', default: '/' },
    out: { type: 'string', default: join(root, 'dist/site') },
  },
})
const outDir = resolve(options.out)
const source = join(root, 'dist/site-source')

if (!existsSync(join(root, 'dist/src/index.d.ts'))) {
  console.error('The reference of the library needs a build: run `npm run build` first')
  process.exit(1)
}
rmSync(source, { recursive: true, force: true })
mkdirSync(join(source, '.vitepress'), { recursive: true })

const pages = stage(root, source)
const { writeApiReference } = await import('./api-reference.mjs')
await writeApiReference(root, source)

cpSync(join(root, 'site/theme'), join(source, '.vitepress/theme'), { recursive: true })
const settings = JSON.stringify({ base: options.base, outDir, cacheDir: join(source, '.cache') })
writeFileSync(
  join(source, '.vitepress/config.mjs'),
  `import { siteConfig } from ${JSON.stringify(join(root, 'site/config.mjs'))}\nexport default siteConfig(${settings})\n`,
)
const { build } = await import('vitepress')
await build(source)
const broken = brokenInSite(outDir, options.base)
for (const line of broken) console.error(line)
if (broken.length > 0) process.exit(1)
console.log(`${pages} pages and the reference of the library are in ${outDir}`)
