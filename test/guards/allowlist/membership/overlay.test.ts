import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readCustomerKey } from '../../../../src/guards/allowlist/customer-key.js'
import { Overlay } from '../../../../src/guards/allowlist/membership/overlay.js'
import { probeOf } from './support.js'

interface Change {
  addedAt?: number
  expiresAt?: number | undefined
}

/** Few enough that histories repeat them, and of every shape: UUIDs, the same bytes as text, ends of blocks. */
const POOL = [
  ...Array.from({ length: 20 }, (_, i) => `31323334-3536-4738-b930-3132333435${String(10 + i)}`),
  '1234567890123456',
  ...[1, 3, 4, 15, 16, 17, 31, 32, 33, 255, 256].flatMap((length) => [
    'a'.repeat(length),
    'b'.repeat(length),
  ]),
  ...Array.from({ length: 60 }, (_, i) => String(i)),
]
const histories = fc.array(
  fc.record({
    id: fc.constantFrom(...POOL),
    add: fc.boolean(),
    addedAt: fc.nat(),
    expiresAt: fc.option(fc.nat(), { nil: undefined }),
  }),
  { maxLength: 300 },
)

function apply(
  overlay: Overlay,
  model: Map<string, Change>,
  history: readonly { id: string; add: boolean; addedAt: number; expiresAt: number | undefined }[],
): void {
  history.forEach(({ id, add, addedAt, expiresAt }) => {
    if (add) overlay.add(probeOf(id), addedAt, expiresAt)
    else overlay.remove(probeOf(id))
    model.set(id, add ? { addedAt, expiresAt } : {})
  })
}

function assertEqual(overlay: Overlay, model: Map<string, Change>): void {
  assert.equal(overlay.size, model.size)
  for (const id of POOL) {
    const entry = overlay.find(probeOf(id))
    const change = model.get(id)
    assert.equal(entry >= 0, change !== undefined, id)
    if (change === undefined) continue
    assert.equal(overlay.isAdded(entry), change.addedAt !== undefined)
    assert.equal(overlay.expiresAt(entry), change.expiresAt)
    if (change.addedAt !== undefined) assert.equal(overlay.addedAt(entry), change.addedAt)
    assert.equal(overlay.hashHi(entry), probeOf(id).hi)
  }
}

describe('the overlay', () => {
  it('is a Map of the last changes, over any history', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const overlay = new Overlay()
        const model = new Map<string, Change>()
        apply(overlay, model, history)
        assertEqual(overlay, model)
      }),
    )
  })

  it('tells its customers', () => {
    fc.assert(
      fc.property(histories, fc.nat(7), (history, offset) => {
        const overlay = new Overlay()
        const model = new Map<string, Change>()
        apply(overlay, model, history)
        const target = new Uint8Array(300)
        const ids = Array.from({ length: overlay.size }, (_, entry) =>
          readCustomerKey(target, offset, overlay.writeKey(entry, target, offset)),
        )
        assert.deepEqual(ids, [...model.keys()])
      }),
    )
  })

  it('tells customers apart whose hashes are equal', () => {
    const overlay = new Overlay()
    // As an adversary who broke the hash would have it.
    const colliding = (id: string): ReturnType<typeof probeOf> => Object.assign(probeOf(id), { hi: 7, lo: 7 })
    for (const id of POOL.slice(0, 40)) overlay.add(colliding(id), 1)
    overlay.remove(colliding(POOL[3]!))
    assert.equal(overlay.size, 40)
    assert.equal(overlay.isAdded(overlay.find(colliding(POOL[3]!))), false)
    assert.equal(overlay.isAdded(overlay.find(colliding(POOL[4]!))), true)
    assert.equal(overlay.find(colliding('somebody else')), -1)
    const uuid = '31323334-3536-3738-3930-313233343536'
    assert.equal(overlay.find(colliding(uuid)), -1, 'the text 1234567890123456 has the same bytes')
  })

  it('grows to many customers in little memory', () => {
    const overlay = new Overlay()
    const many = 200_000
    for (let i = 0; i < many; i++) overlay.add(probeOf(`c${i}`), i)
    for (let i = 0; i < many; i++) assert.equal(overlay.addedAt(overlay.find(probeOf(`c${i}`))), i)
    for (let i = many; i < 2 * many; i++) assert.equal(overlay.find(probeOf(`c${i}`)), -1)
    assert.ok(overlay.sizeBytes / many < 110, `${overlay.sizeBytes / many} bytes per change`)
  })
})
