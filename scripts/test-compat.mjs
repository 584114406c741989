// Tries the package as users do: packed, installed, with other versions of Node, TypeScript, test runners and bundlers.
// `npm run test:compat -- WORD…` runs the trials whose name holds one of the words. Takes a few minutes.
import { rmSync } from 'node:fs'
import { areTheTypesWrong, contents, publint } from './compat/contents.mjs'
import { keyvSuite } from './compat/keyv.mjs'
import { nest } from './compat/nestjs.mjs'
import { install, pack, temporary } from './compat/project.mjs'
import { bundle, jest, nodeTest, vitest } from './compat/tools.mjs'
import { compileDocs, compileTypes } from './compat/types.mjs'
import { engines } from './compat/versions.mjs'
import { missingBinary, missingPackages, weight } from './compat/weight.mjs'
import { ensureEmulators } from './ensure-emulators.mjs'
import { ensureRedisServer } from './ensure-redis.mjs'
import { buildDocsSite } from './try-docs-site.mjs'

/** Each gets the packed package, throws when something does not work, and may return a fact to print. */
const TRIALS = {
  'files of the package': contents,
  publint,
  'are the types wrong': areTheTypesWrong,
  'weight of an install': weight,
  'a missing package': missingPackages,
  'a missing binary': missingBinary,
  'TypeScript 5 nodenext': compileTypes(5, 'nodenext'),
  'TypeScript 5 bundler': compileTypes(5, 'bundler'),
  'TypeScript 5 commonjs': compileTypes(5, 'commonjs'),
  'TypeScript 7 nodenext': compileTypes(7, 'nodenext'),
  'TypeScript 7 bundler': compileTypes(7, 'bundler'),
  'TypeScript 7 commonjs': compileTypes(7, 'commonjs'),
  'blocks of the pages': compileDocs,
  'Jest 30': jest,
  'Vitest 4': vitest,
  'node:test': nodeTest,
  'a bundle of ES modules': bundle('esm'),
  'a bundle of CommonJS': bundle('cjs'),
  'the suite of keyv': keyvSuite,
  'NestJS 11': nest(11),
  'NestJS 12': nest(12),
  'engines on Node 20': engines(20),
  'engines on Node 22': engines(22),
  'engines on Node 24': engines(24),
  'engines on Node 26': engines(26),
  'the site of the documentation': () => buildDocsSite(),
}

const words = process.argv.slice(2)
const names = Object.keys(TRIALS).filter(
  (name) => words.length === 0 || words.some((word) => name.includes(word)),
)
ensureRedisServer()
ensureEmulators()
const tarball = pack()
install(tarball)

const failed = []
for (const name of names) {
  const startedAt = performance.now()
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(0)
  try {
    const fact = await TRIALS[name](tarball)
    console.log(`compat: ${name} works (${seconds()} s)${fact === undefined ? '' : `: ${fact}`}`)
  } catch (error) {
    failed.push(name)
    console.error(`compat: ${name} FAILED (${seconds()} s)\n${error.stack ?? error}`)
  }
}
rmSync(temporary, { recursive: true, force: true })
if (names.length === 0) console.error('no trial has such a name')
console.log(`${names.length - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length > 0 || names.length === 0 ? 1 : 0
