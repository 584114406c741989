// Copies the types that users see: those of the library, and what they import. They lie twice in the package, for
// `import` in dist/types and for `require` in dist/cjs/types: TypeScript reads from the nearest package.json whether a
// file describes an ES module.
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { LIBRARY } from './bundle-processes.mjs'

const IMPORT = /(?:\bfrom\s+|\bimport\(|^import\s+)['"](\.[^'"]+)['"]/gm
const declarationOf = (file) => file.replace(/\.js$/, '.d.ts')

export function copyDeclarations(output) {
  const source = join(output, 'src')
  const files = reachable(LIBRARY.map((entry) => declarationOf(join(source, entry))))
  for (const folder of ['types', join('cjs', 'types')]) {
    for (const file of files) {
      const copy = join(output, folder, relative(source, file))
      mkdirSync(dirname(copy), { recursive: true })
      copyFileSync(file, copy)
    }
  }
}

function reachable(entries) {
  const found = new Set(entries)
  for (const file of found) {
    if (!existsSync(file)) throw new Error(`${file} does not exist, but a public type needs it`)
    for (const [, name] of readFileSync(file, 'utf8').matchAll(IMPORT))
      found.add(resolve(dirname(file), declarationOf(name)))
  }
  return found
}
