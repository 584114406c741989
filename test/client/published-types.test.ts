import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { OPERATIONS } from '../../src/client/index.js'
import { RESOURCES } from '../../src/wire/index.js'
import { temporaryDirectory } from '../support/temporary.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const client = fileURLToPath(new URL('../../src/client/', import.meta.url))
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin',
  'tsc',
)

const capital = (id: string) => id[0]!.toUpperCase() + id.slice(1)

/** Compiles only while each published type is assignable to the type of the schemas, and back. */
function comparison(): string {
  const ids = Object.keys(OPERATIONS)
  const pairs = [
    ...Object.keys(RESOURCES).map((name) => `[P.${name}, W.ResourceOf<'${name}'>]`),
    ...ids.map((id) => `[P.${capital(id)}Input, W.InputOf<'${id}'>]`),
    ...ids.map((id) => `[P.${capital(id)}Answer, W.AnswerOf<'${id}'>]`),
  ]
  return [
    `import type * as P from '${client}index.js'`,
    `import type * as W from '${client}wire-types.js'`,
    'type Same<Pair extends [unknown, unknown]> = Pair extends [Pair[1], Pair[0]] ? true : false',
    `export const same: [${pairs.map((pair) => `Same<${pair}>`).join(', ')}] = [${pairs.map(() => 'true').join(', ')}]`,
  ].join('\n')
}

it('the published types of the client are those of the schemas', () => {
  const file = join(temporaryDirectory(), 'comparison.ts')
  writeFileSync(file, comparison())
  const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--ignoreConfig']
  const target = [
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--typeRoots',
    `${root}/node_modules/@types`,
  ]
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...flags, ...target, file], {
    cwd: root,
    encoding: 'utf8',
  })
  assert.deepEqual([stdout, status], ['', 0])
})
