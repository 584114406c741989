// Builds the web console into dist/console, with a compressed copy beside every file that is worth it.
// Takes seconds, so it is left alone when nothing that it is made of has changed since.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = ['console', 'src/client', 'package-lock.json', 'scripts/build-console.mjs']
const MARK = '.built-from'
const SMALLEST_BYTES = 1024

export async function buildConsole(output) {
  const sources = digestOfSources()
  const mark = join(output, MARK)
  if (existsSync(mark) && readFileSync(mark, 'utf8') === sources) return
  const { build } = await import('vite')
  const configFile = join(root, 'console', 'vite.config.ts')
  const options = { outDir: output, emptyOutDir: true }
  await build({ root: join(root, 'console'), configFile, build: options, logLevel: 'warn' })
  for (const file of filesUnder(output)) compress(file)
  // Last, so that a build that was cut short is done again.
  writeFileSync(mark, sources)
}

function digestOfSources() {
  const hash = createHash('sha256')
  const paths = SOURCES.map((name) => join(root, name)).filter((path) => existsSync(path))
  for (const file of paths.flatMap((path) => (statSync(path).isDirectory() ? filesUnder(path) : [path]))) {
    if (file.endsWith('.md')) continue
    const content = readFileSync(file)
    hash.update(`${file.slice(root.length)} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

function filesUnder(directory) {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
}

function compress(file) {
  const content = readFileSync(file)
  if (content.length < SMALLEST_BYTES || !/\.(?:js|css|svg|json)$/.test(file)) return
  const quality = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: quality }))
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
}
