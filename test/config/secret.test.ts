import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { loadConfig } from '../../src/config/load.js'

const HASH = 'a'.repeat(64)
const entry = (name: string, more: object = {}) => ({ name, scopes: ['check'], hash: HASH, ...more })

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'catraca-secret-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const write = (content: string) => writeFileSync(join(cwd, 'secret'), content)
/** As Kubernetes and careful people do: the new file takes the place of the old one. */
const replace = (content: string) => {
  writeFileSync(join(cwd, 'secret.new'), content)
  renameSync(join(cwd, 'secret.new'), join(cwd, 'secret'))
}

describe('secrets', () => {
  it('are taken from the environment or from the file as they are', () => {
    assert.equal(loadConfig({ env: { CATRACA_KEY: 'k1' }, cwd }).client.key.read(), 'k1')
    writeFileSync(join(cwd, 'catraca.config.json'), JSON.stringify({ keys: [entry('a')] }))
    assert.deepEqual(loadConfig({ env: {}, cwd }).keys.read(), [entry('a')])
  })

  it('are read again when their file changes', () => {
    write('first\n')
    const { key } = loadConfig({ env: { CATRACA_KEY_FILE: 'secret' }, cwd }).client
    assert.equal(key.read(), 'first')
    write('the second one\n')
    assert.equal(key.read(), 'the second one')
    // Same length: only the identity of the file tells.
    replace('the third one!\n')
    assert.equal(key.read(), 'the third one!')
  })

  it('keep their last good value, and say so once, while the file is broken', () => {
    write(JSON.stringify([entry('a')]))
    const problems: string[] = []
    const onProblem = (message: string) => problems.push(message)
    const { keys } = loadConfig({ env: { CATRACA_KEYS_FILE: 'secret' }, cwd, onProblem })
    write('[{')
    assert.deepEqual(keys.read(), [entry('a')])
    assert.deepEqual(keys.read(), [entry('a')])
    assert.equal(problems.length, 1)
    assert.match(problems[0]!, /^environment CATRACA_KEYS_FILE names .*secret, whose content must be a JSON/)
    rmSync(join(cwd, 'secret'))
    assert.deepEqual(keys.read(), [entry('a')])
    assert.match(problems[1] ?? '', /cannot be read \(ENOENT\)/)
    write(JSON.stringify([entry('a'), entry('b')]))
    assert.equal(keys.read().length, 2)
    assert.equal(problems.length, 2)
  })
})

describe('CATRACA_KEYS', () => {
  const refused: [string, unknown, RegExp][] = [
    ['no array', {}, /must be an array/],
    ['no object', [1], /\[0\] must be an object/],
    ['a key instead of its hash', [entry('a', { hash: 'ctr_secret' })], /\[0\]\.hash must be the SHA-256/],
    ['unknown scope', [entry('a', { scopes: ['root'] })], /\[0\]\.scopes\[0\] must be one of/],
    ['no scope', [entry('a', { scopes: [] })], /\[0\]\.scopes must name/],
    ['bad name', [entry('a b')], /\[0\]\.name must be/],
    ['the same name twice', [entry('a'), entry('a')], /names a key twice/],
    ['unknown field', [entry('a', { admin: true })], /\[0\] has an unknown field "admin"/],
  ]
  for (const [name, value, message] of refused) {
    it(`refuses ${name}`, () => {
      const env = { CATRACA_KEYS: JSON.stringify(value) }
      assert.throws(() => loadConfig({ env, cwd }), { code: 'CONFIG_INVALID', message })
    })
  }
})
