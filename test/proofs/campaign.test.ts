import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run } from '../../bench/proof/campaign.js'
import { CHECKERS } from '../../bench/support/campaign/checkers.js'
import { chanceOf, faultsOf } from '../../bench/support/campaign/faults.js'
import { type Lane, LIMITS, type Told } from '../../bench/support/campaign/history.js'
import { areMessages } from '../../bench/support/campaign/messages.js'
import { ENGINES } from '../../bench/support/campaign/stage.js'

const event = (lane: Lane, beganMs: number, endedMs: number, facts: Partial<Told>): Told =>
  ({ ...{ lane, pod: 0, key: 'k', beganMs, endedMs }, ...facts }) as Told

const many = (lane: Lane, count: number, facts: Partial<Told>): Told[] =>
  Array.from({ length: count }, (_, i) => event(lane, i, i + 1, facts))

/** For each lane a history that breaks its promise. */
const BROKEN: Record<Lane, Told[]> = {
  allowlists: [
    event('allowlists', 0, 1, { verified: true, degraded: false, expected: true, allowed: false }),
  ],
  limits: many('limits', LIMITS.capacity + 1, { allowed: true, degraded: false }),
  local: many('local', LIMITS.capacity * LIMITS.localShare + 1, { allowed: true, degraded: true }),
  idempotency: many('idempotency', 2, { claimed: true }),
  locks: [
    event('locks', 0, 1, { fence: 2, heldUntilMs: 2 }),
    event('locks', 5, 6, { fence: 1, heldUntilMs: 7 }),
  ],
  codes: [event('codes', 0, 1, { valid: 2 })],
  cache: [
    event('cache', 0, 1, { bumped: true, to: 3 }),
    event('cache', 9000, 9001, { version: 2, fresh: true }),
  ],
  audit: many('audit', 2, { acknowledged: true }),
}

describe('a campaign of faults', () => {
  it('finds each broken promise, and none where the loss is declared or nothing is broken', () => {
    const lost = [{ kind: 'lost' as const, beganMs: 0, endedMs: 1e6 }]
    for (const [lane, events] of Object.entries(BROKEN) as [Lane, Told[]][]) {
      assert.equal(CHECKERS[lane](events, []).length > 0, true, lane)
      assert.deepEqual(CHECKERS[lane]([], []), [], lane)
    }
    for (const lane of ['allowlists', 'limits', 'idempotency', 'audit'] as const)
      assert.deepEqual(CHECKERS[lane](BROKEN[lane], lost), [], lane)
    const overlap = [
      event('locks', 0, 1, { fence: 1, heldUntilMs: 50 }),
      event('locks', 5, 6, { fence: 2, heldUntilMs: 60, pod: 1 }),
    ]
    assert.match(CHECKERS.locks(overlap, [])[0]!, /held the lock for 44 ms together/)
  })

  it('does not take a pod that stood still for one that reads old values', () => {
    const pause = event('cache', 2000, 9000, { paused: true })
    assert.deepEqual(CHECKERS.cache([...BROKEN.cache, pause], []), [])
    assert.equal(CHECKERS.cache([...BROKEN.cache, { ...pause, pod: 1 }], []).length, 1)
  })

  it('chooses the same faults for the same seed', () => {
    const drawn = (seed: number) => Array.from({ length: 20 }, chanceOf(seed).bind(undefined, 1000))
    assert.deepEqual(drawn(7), drawn(7))
    assert.notDeepEqual(drawn(7), drawn(8))
    assert.ok(faultsOf('redis').length > 8 && faultsOf('dynamodb').length > 7)
  })

  it('knows messages of subscriptions from other bytes', () => {
    const message = (kind: string) => `${kind}3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$4\r\na\r\nb\r\n`
    const are = (text: string) => areMessages(Buffer.from(text))
    assert.deepEqual([are(message('*')), are(message('>') + message('>'))], [true, true])
    const others = ['', '+PONG\r\n', `${message('*')}+PONG\r\n`, message('*').slice(0, -3)]
    assert.deepEqual(others.map(are), [false, false, false, false])
    assert.equal(are('*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'), false)
  })

  for (const engine of ENGINES) {
    it(`keeps the promises of all capabilities for a quarter of a minute on ${engine}`, async () => {
      const figures = await run({ seed: 1, engine, seconds: 15 })
      assert.equal(figures.violations, 0)
      assert.ok(figures.calls! > 20)
    })
  }

  it('has a page with every proof', () => {
    const script = fileURLToPath(new URL('../../../scripts/generate-proofs.mjs', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  })
})
