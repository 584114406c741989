import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { lockSuites } from '../src/conformance/index.js'

const folder = new URL('../../examples/own-engine/', import.meta.url)
const TIMEOUT_MS = 120_000

async function run(...args: string[]) {
  // The runner of these tests tells its children to report to it.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return promisify(execFile)(process.execPath, args, { env, timeout: TIMEOUT_MS, cwd: fileURLToPath(folder) })
}

describe('examples/own-engine', () => {
  it('passes every case that engines with locks must pass', async () => {
    const { stdout } = await run('--test', '--test-reporter=tap', 'conformance.test.mjs')
    const cases = lockSuites.reduce((sum, suite) => sum + suite.cases.length, 0)
    assert.match(stdout, new RegExp(`^# tests ${cases}$`, 'm'))
    assert.match(stdout, new RegExp(`^# pass ${cases}$`, 'm'))
  })

  it('shows what it promises, and ends', async () => {
    const { stdout, stderr } = await run('run.mjs')
    assert.equal(stderr, '')
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      'at once: acquired, held',
      'while it works: held',
      'health: healthy, memory-locks knows 1 name',
      'limits: absent',
      'CONFIG_INVALID: engine memory-locks does not offer limits: it offers locks',
    ])
  })
})
