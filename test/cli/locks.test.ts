import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { serve, until } from '../server/support.js'
import { openPatiently } from '../support/patient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { command, catraca as run, start } from './run.js'

const directory = temporaryDirectory()
const store = `embedded:${join(directory, 'data')}`
const print = ['sh', '-c', 'echo "$CATRACA_FENCE $1"', 'sh', '--not-ours']

describe('catraca lock run', () => {
  for (const kind of ['store', 'url'] as const) {
    it(`runs a command with the fence, on a ${kind}, and gives its exit code`, async (t) => {
      const target = kind === 'store' ? ['--store', store] : ['--url', (await serve(t)).url]
      const first = await run(['lock', 'run', ...target, 'claim:1', '--', ...print])
      assert.equal(first.code, 0, first.stderr)
      const [, fence] = /^(\d{16}) --not-ours\n$/.exec(first.stdout) ?? []
      assert.ok(Number(fence) > 1e15, first.stdout)
      const second = await run([
        'lock',
        'run',
        ...target,
        'claim:1',
        '--',
        'sh',
        '-c',
        'echo $CATRACA_FENCE; exit 7',
      ])
      assert.equal(second.code, 7)
      assert.ok(Number(second.stdout) > Number(fence))
      const status = await command(['lock', 'status', ...target, 'claim:1', '--json'])
      assert.deepEqual(JSON.parse(status.stdout), {
        name: 'claim:1',
        held: false,
        fence: Number(second.stdout),
      })
      const killed = await command(['lock', 'run', ...target, 'claim:1', '--', 'sh', '-c', 'kill -9 $$'])
      assert.equal(killed.code, 137)
      const missing = await command(['lock', 'run', ...target, 'claim:1', '--', 'no-such-command'])
      assert.deepEqual([missing.code, /cannot run no-such-command/.test(missing.stderr)], [2, true])
    })
  }

  it('does not run while somebody else holds the lock', async (t) => {
    const { url, catraca } = await serve(t)
    const held = await catraca.locks.acquire('a')
    assert.ok(held.acquired)
    const file = join(directory, 'ran')
    const touch = (...options: string[]) =>
      command(['lock', 'run', '--url', url, '--wait-ms', '0', ...options, 'a', '--', 'touch', file])
    const refused = await touch()
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    assert.match(refused.stderr, /another caller holds the lock a/)
    assert.equal((await touch('--held-exit-code', '42')).code, 42)
    assert.equal(existsSync(file), false)
    const wrong = await command(['lock', 'release', '--url', url, 'a', '--token', 'x'.repeat(24)])
    assert.deepEqual([wrong.code, /no longer held with this token/.test(wrong.stderr)], [1, true])
    assert.equal((await command(['lock', 'release', '--url', url, 'a'])).code, 2)
    const released = await command(['lock', 'release', '--url', url, 'a', '--token', held.token])
    assert.deepEqual([released.code, released.stdout], [0, 'released a\n'])
    assert.equal((await touch()).code, 0)
    assert.equal(existsSync(file), true)
  })

  it('hands signals to the command, and frees the lock behind it', async () => {
    const script = 'trap "echo got it; exit 5" TERM; echo ready; while :; do sleep 0.05; done'
    const running = start(['lock', 'run', '--store', store, 'signals', '--', 'sh', '-c', script])
    await running.said(/ready/, 'stdout')
    running.child.kill('SIGTERM')
    const { code, stdout } = await running.ended
    assert.deepEqual([code, stdout], [5, 'ready\ngot it\n'])
    const status = await command(['lock', 'status', '--store', store, 'signals', '--json'])
    assert.equal(JSON.parse(status.stdout).held, false)
  })

  it('ends the command when the lock is lost', async () => {
    const file = join(directory, 'told')
    const script = `trap "echo told > ${file}" TERM; echo ready; while :; do sleep 0.05; done`
    const timing = ['--ttl-ms', '3000', '--kill-after-ms', '1500']
    const running = start(['lock', 'run', '--store', store, ...timing, 'lost', '--', 'sh', '-c', script])
    await running.said(/ready/, 'stdout')
    const catraca = await openPatiently({ store, sweepIntervalMs: 0 })
    await catraca.locks.forceRelease('lost')
    const { code, stderr } = await running.ended
    assert.equal(code, 1)
    assert.match(stderr, /the lock lost was lost, so the command was stopped/)
    await until('the command was told', () => existsSync(file))
    assert.equal(readFileSync(file, 'utf8'), 'told\n')
    await catraca.close()
  })
})
