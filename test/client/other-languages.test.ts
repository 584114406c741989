import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { knownKey, serve } from '../server/support.js'
import { temporaryDirectory } from '../support/temporary.js'

const folder = new URL('../../../examples/clients/', import.meta.url)
const EXPECTED = (truth: string, untruth: string) => [
  `check ann: ${truth} (MEMBER)`,
  `check bob: ${untruth} (NOT_MEMBER)`,
  'acquire: may pass',
  'acquire: come back in 60 s',
  'given back, then: may pass',
  'once: 7, done',
  'once: 7, replayed',
  `lock: others wait: ${truth}, the fence grows: ${truth}`,
  `flag: ann ${truth}, bob ${untruth}`,
]

/** Languages that a machine need not have; where one is absent, the run says so. */
const CLIENTS = [
  { tool: 'python3', probe: '--version', args: ['-B', 'python/client.py'], lines: EXPECTED('True', 'False') },
  {
    tool: 'python3',
    probe: '--version',
    args: ['-B', 'python/cached.py'],
    lines: ['callers: 8, all the same: True', 'loads: 1'],
  },
  {
    tool: 'go',
    probe: 'version',
    args: ['run', 'go/main.go'],
    lines: [...EXPECTED('true', 'false'), 'cache: loaded 1 time'],
  },
]

describe('examples of clients in other languages', () => {
  const cache = temporaryDirectory()
  for (const { tool, probe, args, lines } of CLIENTS) {
    const isThere = spawnSync(tool, [probe]).status === 0
    it(`${args.at(-1)} shows what it promises`, {
      skip: !isThere && `${tool} is not on this machine`,
    }, async (t) => {
      const server = await serve(t, {}, { cache: { spaces: [{ name: 'rates', ttlMs: 60_000 }] } })
      const { key } = await knownKey(server, 'all', ['admin', 'limits', 'idempotency', 'cache', 'locks'])
      const env = { ...process.env, GOCACHE: cache, GOFLAGS: '-mod=mod', GO111MODULE: 'off' }
      const options = { cwd: fileURLToPath(folder), env, timeout: 120_000 }
      const { stdout, stderr } = await promisify(execFile)(tool, [...args, server.url, key], options)
      assert.equal(stderr, '')
      assert.deepEqual(stdout.trimEnd().split('\n'), lines)
    })
  }
})
