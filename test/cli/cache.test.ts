import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { command, type Ended, type Served, scratch, serve } from './run.js'

const spaces = JSON.stringify([{ name: 'dict:entry:key', ttlMs: 300_000 }])
const env = { CATRACA_CACHE_SPACES: spaces }
const KEY = ['dict:entry:key', 'CPF:123']

/** Commands in order, with what they print and their exit code. */
const SCRIPT: [string[], RegExp, number][] = [
  [['get', ...KEY], /nothing is cached under CPF:123 in dict:entry:key/, 1],
  [['set', ...KEY, '{"a":"é"}'], /^cached CPF:123 in dict:entry:key\n$/, 0],
  [['get', ...KEY], /^\{"a":"é"\}\n$/, 0],
  [['get', ...KEY, '--json'], /"value": \{\s+"a": "é"\s+\},\s+"ageMs": \d+\s+\}/, 0],
  [['set', ...KEY, '"x"', '--ttl-ms', '60000', '--json'], /"cached": true/, 0],
  [['get', ...KEY], /^"x"\n$/, 0],
  [['set', ...KEY, 'x'], /value must be JSON/, 2],
  [['set', ...KEY, 'null'], /value must be given/, 2],
  [['set', ...KEY, '1', '--ttl-ms', '0'], /ttlMs must be/, 2],
  [['expire', ...KEY], /^expired CPF:123 in dict:entry:key\n$/, 0],
  [['delete', ...KEY], /^deleted CPF:123 from dict:entry:key\n$/, 0],
  [['delete', ...KEY, '--json'], /"deleted": true/, 0],
  [['get', ...KEY, '--json'], /"CACHE_KEY_NOT_FOUND"/, 1],
  [['get', 'other', 'k'], /has no cache space other/, 1],
  [['stats'], /^SPACE +HIT RATE[^\n]+\ndict:entry:key +\d/, 0],
  [['stats', '--json'], /"dict:entry:key": \{/, 0],
]

describe('catraca cache, on a store and on a server', () => {
  const dir = scratch()
  let server: Served
  before(async () => {
    server = await serve(['--store', 'memory:'], { env })
  })
  after(async () => {
    await server.stop()
    dir.remove()
  })
  for (const [args, printed, code] of SCRIPT) {
    it(['cache', ...args].join(' '), async () => {
      const runs: Promise<Ended>[] = [
        command(['cache', ...args, '--store', 'embedded:./data'], { cwd: dir.path, env }),
        command(['cache', ...args, '--url', server.url], { cwd: dir.path }),
      ]
      for (const ended of await Promise.all(runs)) {
        assert.equal(ended.code, code, ended.stderr)
        assert.match(code === 0 ? ended.stdout : ended.stderr, printed)
      }
    })
  }

  it('names what is wrong with a space of the configuration', async () => {
    const wrong: [string, RegExp][] = [
      ['x', /CATRACA_CACHE_SPACES must be a JSON array/],
      ['[{"name":"a"}]', /\[0\] is wrong: ttlMs must be given/],
      ['[{"name":"a","ttlMs":5,"speed":1}]', /\[0\] is wrong: speed is unknown/],
      ['[{"name":"a","ttlMs":5},{"name":"a","ttlMs":5}]', /names a space twice/],
    ]
    for (const [text, message] of wrong) {
      const { code, stderr } = await command(['cache', 'stats', '--store', 'memory:'], {
        env: { CATRACA_CACHE_SPACES: text },
      })
      assert.deepEqual([code, message.test(stderr)], [1, true], stderr)
    }
  })
})
