// Tells whether an output was built from the present sources.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const MARK = '.built-from'

export function filesUnder(directory) {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => !path.includes(`${sep}node_modules${sep}`))
    .sort()
}

/** Digest of files and folders of the project; Markdown pages do not count. */
export function digestOf(names) {
  const hash = createHash('sha256').update(process.version)
  const paths = names.map((name) => join(root, name)).filter((path) => existsSync(path))
  for (const file of paths.flatMap((path) => (statSync(path).isDirectory() ? filesUnder(path) : [path]))) {
    if (file.endsWith('.md')) continue
    const content = readFileSync(file)
    hash.update(`${file.slice(root.length)} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

export function isBuiltFrom(output, digest) {
  const mark = join(output, MARK)
  return existsSync(mark) && readFileSync(mark, 'utf8') === digest
}

/** Call this last, so that an interrupted build is repeated. */
export function markBuiltFrom(output, digest) {
  writeFileSync(join(output, MARK), digest)
}
