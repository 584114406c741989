// Bundles src/wire/typebox.ts with the library; see the reason there.
import { join } from 'node:path'
import { build } from 'esbuild'

export async function bundleTypebox(output) {
  const file = join(output, 'src', 'wire', 'typebox.js')
  await build({
    entryPoints: [file],
    outfile: file,
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    minify: true,
    legalComments: 'eof',
    logLevel: 'warning',
  })
}
