import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PROGRAM = fileURLToPath(new URL('../../examples/dict/run.mjs', import.meta.url))
const LATENCIES = String.raw`p50 \d+\.\d\d ms, p95 \d+\.\d\d ms, p99 \d+\.\d\d ms`
const [ENTRIES, READS] = [300, 3000]

describe('examples/dict', () => {
  it('reads a directory over PostgreSQL without and with the cache, and ends', async () => {
    const args = [PROGRAM, 'memory:', String(ENTRIES), String(READS)]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 120_000 })
    assert.equal(stderr, '')
    const lines = stdout.trim().split('\n')
    assert.match(lines[0]!, new RegExp(`^without the cache: ${LATENCIES}, ${READS} database reads$`))
    const reads = new RegExp(`^with the cache: ${LATENCIES}, (\\d+) database reads$`).exec(lines[1]!)?.[1]
    assert.ok(Number(reads) <= ENTRIES, lines[1])
    const rate = /^hit rate: (\d+\.\d) %$/.exec(lines[2]!)?.[1]
    assert.ok(Number(rate) >= 80, lines[2])
    assert.deepEqual(lines.slice(3), ['written through: 99999-9', 'deleted: 404'])
  })
})
