import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PREFIX } from '../../../src/engines/redis/keys.js'
import { spaceSettings } from '../../../src/guards/cache/options.js'

const REDIS = fileURLToPath(new URL('../../../../src/engines/redis/', import.meta.url))
/** A text that begins with a name and `:`, perhaps in a brace. */
const PREFIXES = /['`]\{?([a-z-]+):/g
const COMMENTS = /\/\*.*?\*\//gs

const sources = readdirSync(REDIS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file !== 'keys.ts')
  .map((file) => ({ file, source: readFileSync(join(REDIS, file), 'utf8') }))
const prefixesIn = (text: string) => [...text.matchAll(PREFIXES)].map(([, name]) => name!)

describe('the names of keys on redis', () => {
  const prefixes = new Set(Object.values(PREFIX).map((prefix) => prefix.split(':')[0]!))

  it('are not names of cache spaces', () => {
    for (const prefix of prefixes) {
      for (const name of [prefix, `${prefix}:more`])
        assert.throws(() => spaceSettings({ name, ttlMs: 1000 }), /name begins with a reserved name/, name)
    }
    assert.equal(spaceSettings({ name: 'auditors', ttlMs: 1000 }).name, 'auditors')
  })

  it('begin in keys.ts of the engine, and nowhere else', () => {
    const elsewhere = sources.flatMap(({ file, source }) =>
      prefixesIn(source.replaceAll(COMMENTS, ''))
        .filter((name) => prefixes.has(name))
        .map((name) => `${file}: ${name}`),
    )
    assert.deepEqual(elsewhere, [])
  })
})
