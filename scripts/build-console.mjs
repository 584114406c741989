// Builds the web console into dist/console, with compressed copies of large files. It takes seconds, so it is skipped
// when its sources have not changed.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { digestOf, filesUnder, isBuiltFrom, markBuiltFrom } from './sources-digest.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const SHARED = [
  'client',
  'core',
  'guards/allowlist/import/csv-header.ts',
  'guards/allowlist/wave',
  'guards/rate-limit/presets.ts',
]
const SOURCES = [
  'console',
  ...SHARED.map((path) => `src/${path}`),
  'package-lock.json',
  'scripts/build-console.mjs',
]
const SMALLEST_BYTES = 1024

export async function buildConsole(output) {
  const sources = digestOf(SOURCES)
  if (isBuiltFrom(output, sources)) return
  const { build } = await import('vite')
  const configFile = join(root, 'console', 'vite.config.ts')
  const options = { outDir: output, emptyOutDir: true }
  await build({ root: join(root, 'console'), configFile, build: options, logLevel: 'warn' })
  for (const file of filesUnder(output)) compress(file)
  markBuiltFrom(output, sources)
}

function compress(file) {
  const content = readFileSync(file)
  if (content.length < SMALLEST_BYTES || !/\.(?:js|css|svg|json)$/.test(file)) return
  const quality = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: quality }))
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
}
