import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const sources = new URL('../../../console/src/', import.meta.url)

/** A file of the console, such as `texts/format.ts`, compiled for Node: what needs no browser is tested without one. */
export async function loadConsoleSource<T>(path: string): Promise<T> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(path, sources))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
  })
  const code = Buffer.from(outputFiles[0]!.contents).toString('base64')
  return (await import(`data:text/javascript;base64,${code}`)) as T
}
