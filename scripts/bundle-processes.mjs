// Bundles the entry points of processes and threads, so that they load a few files instead of hundreds: a thread of
// the embedded engine starts in half the time, and every command 25 % sooner. The compiled entry files then only
// import the bundles, so callers do not change. The library is bundled too, and `exports` of the package names its
// bundles: `import 'catraca'` takes a third of the time. Tests import the files that were compiled one by one.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { build } from 'esbuild'

/** Each becomes one file. */
const ALONE = [
  'engines/embedded/cache/thread.js',
  'engines/embedded/lmdb/commit-lock-probe.js',
  'engines/embedded/lmdb/writer-thread.js',
  'engines/embedded/rate-limit/thread.js',
  'guards/allowlist/membership/page-worker.js',
]
/** These import modules on demand, or share modules with each other, so they share chunks. */
const TOGETHER = ['app/threads/import-worker.js', 'app/threads/index-worker.js', 'cli/main.js']
/** What users import. All paths of the package share their modules: its errors are one class. */
export const LIBRARY = [
  'index.js',
  'server/index.js',
  'metrics/index.js',
  'client/index.js',
  'client/node.js',
  'remote/index.js',
  'adapters/fastify.js',
  'adapters/express.js',
  'adapters/fetch.js',
  'adapters/hono.js',
  'adapters/openfeature.js',
  'adapters/express-rate-limit.js',
  'adapters/fastify-rate-limit.js',
  'adapters/throttler.js',
  'adapters/keyv.js',
  'nestjs/index.js',
  'presets/dict/index.js',
  'conformance/index.js',
]

const path = (from, to) => relative(from, to).replaceAll(sep, '/')
const nameOf = (entry) => entry.replaceAll('/', '-').replace(/\.js$/, '')

/** What the bundles have in place of what the compiled files read or compute when they are loaded. */
const replaced = (source, here, fromHere) => ({
  name: 'replaced',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /core[\\/]version\.js$/ }, () => ({ contents: `export const version = '${version()}'` }))
    onLoad({ filter: /link[\\/]lua-text\.js$/ }, () => ({ contents: luaTexts(source) }))
    // Files locate others by `import.meta.url`, so each keeps the URL that it had before bundling.
    onLoad({ filter: /\.js$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8')
      if (!text.includes('import.meta.url')) return undefined
      const own = `ownUrl('${path(source, file)}')`
      return { contents: `import { ownUrl } from 'own-url'\n${text.replaceAll('import.meta.url', own)}` }
    })
    onResolve({ filter: /^own-url$/ }, () => ({ path: 'own-url', namespace: 'own-url' }))
    onLoad({ filter: /.*/, namespace: 'own-url' }, () => ({ contents: ownUrlModule(here, fromHere) }))
  },
})

/**
 * Finds dist/src. In a bundle that an application made it is not where it was: then it is in the package, if that is
 * installed there, and otherwise nowhere.
 */
const ownUrlModule = (here, fromHere) => `
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
let folder
function find() {
  const here = ${here} ?? pathToFileURL(process.argv[1] ?? 'none').href
  const usual = new URL('${fromHere}', here)
  if (existsSync(new URL('cli/main.js', usual))) return usual
  try {
    const manifest = createRequire(here).resolve('catraca/package.json')
    return new URL('dist/src/', pathToFileURL(manifest))
  } catch {
    return new URL('.', here)
  }
}
export const ownUrl = (file) => new URL(file, (folder ??= find())).href
`

const version = () => JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

/** The Lua files as strings. */
function luaTexts(source) {
  const folder = join(source, 'engines', 'redis', 'lua')
  const texts = readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .map((file) => [file.slice(0, -'.lua'.length), readFileSync(join(folder, file), 'utf8').trimEnd()])
  return `const TEXTS = ${JSON.stringify(Object.fromEntries(texts))}\nexport const luaText = (name) => TEXTS[name]`
}

const COMMON = {
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
}

export async function bundleProcesses(output) {
  const source = join(output, 'src')
  const folder = join(source, 'bundled')
  const bundle = (entries, splitting) =>
    build({
      ...COMMON,
      entryPoints: entries.map((entry) => ({ in: join(source, entry), out: nameOf(entry) })),
      outdir: folder,
      splitting,
      metafile: true,
      format: 'esm',
      plugins: [replaced(source, 'import.meta.url', '../')],
    })
  const [, { metafile }] = await Promise.all([bundle(ALONE, false), bundle([...TOGETHER, ...LIBRARY], true)])
  await bundleCommonJs(output, exportsOf(metafile))
  for (const entry of [...ALONE, ...TOGETHER]) {
    const door = join(source, entry)
    writeFileSync(door, `import '${path(dirname(door), join(folder, `${nameOf(entry)}.js`))}'\n`)
  }
}

/** The names that each file of the library exports. */
function exportsOf({ outputs }) {
  const bundles = Object.entries(outputs)
  const names = (entry) => bundles.find(([file]) => file.endsWith(`/bundled/${nameOf(entry)}.js`))[1].exports
  return new Map(LIBRARY.map((entry) => [entry, names(entry)]))
}

/**
 * The library for `require`: Jest and many bundlers load no ES modules by it. One file holds all, so that errors are
 * one class; a module in it runs when a path of the package that needs it is required.
 */
async function bundleCommonJs(output, names) {
  const folder = join(output, 'cjs')
  const source = join(output, 'src')
  const loaders = LIBRARY.map((entry) => `'${nameOf(entry)}': () => require('./${entry}')`)
  await build({
    ...COMMON,
    stdin: { contents: `module.exports = { ${loaders.join(', ')} }`, resolveDir: source },
    outfile: join(folder, 'catraca.js'),
    format: 'cjs',
    // A dynamic import would be one of an ES module.
    supported: { 'dynamic-import': false },
    plugins: [replaced(source, 'pathToFileURL(__filename).href', '../src/')],
  })
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
  for (const [entry, exported] of names) {
    const name = nameOf(entry)
    // Node and bundlers read the names of the exports from the text.
    const lines = exported.map((each) => `exports.${each} = all.${each}\n`).join('')
    writeFileSync(join(folder, `${name}.js`), `const all = require('./catraca.js')['${name}']()\n${lines}`)
  }
}
