import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spaceSettings } from '../../../src/guards/cache/options.js'

const REDIS = fileURLToPath(new URL('../../../../src/engines/redis/', import.meta.url))
/** A text that begins with a name and `:`, perhaps in a brace. */
const PREFIXES = /['`]\{?([a-z-]+):/g
/** Names of fields in a hash, not of keys. */
const FIELDS = ['entity', 'parent']
/** Checks for operators, which repeat names of the others. */
const REPEATING = /^diagnose\//

const sources = readdirSync(REDIS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !REPEATING.test(file))
  .map((file) => ({ file, source: readFileSync(join(REDIS, file), 'utf8') }))
const prefixesIn = (text: string) => [...text.matchAll(PREFIXES)].map(([, name]) => name!)
const isKeys = ({ file }: { file: string }) => file.endsWith('keys.ts')

describe('the names of keys on redis', () => {
  const found = sources.filter(isKeys).flatMap(({ source }) => prefixesIn(source))
  const prefixes = new Set(found.filter((name) => !FIELDS.includes(name)))

  it('are not names of cache spaces', () => {
    for (const name of ['allowlist', 'allowlists', 'audit', 'bridge', 'catraca', 'lock', 'otp', 'ratelimit'])
      assert.ok(prefixes.has(name), `${name} was found`)
    for (const prefix of prefixes) {
      for (const name of [prefix, `${prefix}:more`])
        assert.throws(() => spaceSettings({ name, ttlMs: 1000 }), /name begins with a reserved name/, name)
    }
    assert.equal(spaceSettings({ name: 'auditors', ttlMs: 1000 }).name, 'auditors')
  })

  it('begin in keys.ts of their folder', () => {
    const elsewhere = sources
      .filter((one) => !isKeys(one))
      .flatMap(({ file, source }) => {
        // A message may show the form of a key.
        const code = source.replaceAll(/`[^`\n]*…`/g, '')
        return prefixesIn(code)
          .filter((name) => prefixes.has(name))
          .map((name) => `${file}: ${name}`)
      })
    assert.deepEqual(elsewhere, [])
  })
})
