import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { temporaryDirectory } from './temporary.js'

const sources = new URL('../../../console/src/', import.meta.url)

/** A file of the console, such as `texts/format.ts`, compiled for Node: what needs no browser is tested without one. */
export async function loadConsoleSource<T>(path: string): Promise<T> {
  const outfile = join(temporaryDirectory(), 'compiled.mjs')
  const entry = fileURLToPath(new URL(path, sources))
  await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'neutral' })
  return (await import(pathToFileURL(outfile).href)) as T
}
