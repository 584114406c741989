// Bundles the stream processor with its dependencies into one file for AWS Lambda. `node scripts/bundle-lambda.mjs
// [DIRECTORY]`, from the compiled code in dist by default.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A function of Lambda has no packages beside it: what the product loads when it runs is bundled. */
const bundlePackages = {
  name: 'bundle-packages',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]sdk[\w-]*\.js$/ }, ({ path }) => {
      const name = /requirePackage\('([^']+)'/.exec(readFileSync(path, 'utf8'))?.[1]
      return name && { contents: `export * from '${name}'`, resolveDir: root }
    })
  },
}

export async function bundleLambda(output) {
  const folder = join('lambda', 'stream-processor')
  await build({
    entryPoints: [join(output, 'deploy', folder, 'index.js')],
    outfile: join(output, folder, 'index.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    legalComments: 'none',
    plugins: [bundlePackages],
    logLevel: 'warning',
    // Parts of the SDK still call `require` for Node modules.
    banner: {
      js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);",
    },
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await bundleLambda(process.argv[2] ?? join(root, 'dist'))
