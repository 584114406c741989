import assert from 'node:assert/strict'
import type { Completion, IdempotencyStore, StoredRecord } from '../../guards/idempotency/port.js'
import { suite } from '../suite.js'
import { NOW, parallel } from '../support.js'
import { claimBy, claimed, found, KEY, LEASE_MS, noise, owner, sameBytes } from './support.js'

/** Larger than an item of DynamoDB. */
const LARGE_BYTES = 500_000

/** Completes a claim, and returns what the other instance replays. */
async function replayed(
  { one, two }: { one: IdempotencyStore; two: IdempotencyStore },
  completion: Completion,
): Promise<StoredRecord> {
  await claimed(one, claimBy(1))
  assert.equal(await one.complete(KEY, owner(1), completion, NOW), 'done')
  const record = await found(two, claimBy(2))
  assert.deepEqual(await one.read(KEY, NOW), record)
  return record
}

const gzip = (bytes: Uint8Array): Completion => ({ response: { encoding: 'gzip', bytes } })
const json = (text: string): Completion => ({ response: { encoding: 'json', text } })

function assertBytes(record: StoredRecord, bytes: Uint8Array): void {
  assert.ok(record.response?.encoding === 'gzip')
  sameBytes(record.response.bytes, bytes)
}

function assertText(record: StoredRecord, text: string): void {
  assert.ok(record.response?.encoding === 'json')
  assert.ok(record.response.text === text, 'the text differs')
}

export const idempotencyResponseSuite = suite<IdempotencyStore>(
  'idempotency responses',
  {
    async 'JSON comes back as it was, whatever it holds'(pair) {
      const text = '{"a":"é \\u0000 \u{1f600} \\"","b":[1.0,null],"__proto__":{"x":1}}'
      assertText(await replayed(pair, json(text)), text)
    },

    async 'the shortest JSON comes back'(pair) {
      assertText(await replayed(pair, json('0')), '0')
    },

    async 'compressed bytes come back as they were'(pair) {
      const bytes = Uint8Array.from({ length: 1024 }, (_, i) => i)
      assertBytes(await replayed(pair, gzip(bytes)), bytes)
    },

    async 'no response is told from one that was too large'(pair) {
      const none = await replayed(pair, {})
      assert.deepEqual([none.status, none.response, none.omittedBytes], ['COMPLETED', undefined, undefined])
    },

    async 'a response that was too large is told as such'(pair) {
      const omitted = await replayed(pair, { omittedBytes: 123_456_789 })
      assert.deepEqual([omitted.response, omitted.omittedBytes], [undefined, 123_456_789])
    },

    async 'large JSON comes back'(pair) {
      const text = JSON.stringify('é'.repeat(LARGE_BYTES / 2))
      assertText(await replayed(pair, json(text)), text)
    },

    async 'large bytes come back, also after others of another size'({ one, two }) {
      for (const [i, size] of [LARGE_BYTES, 3 * LARGE_BYTES, 10, LARGE_BYTES + 1].entries()) {
        const bytes = noise(size)
        const key = { operation: 'PRODUCE', key: `k${i % 2}` }
        await one.remove(key)
        await claimed(one, claimBy(i, { key }))
        assert.equal(await one.complete(key, owner(i), gzip(bytes), NOW), 'done')
        assertBytes((await two.read(key, NOW))!, bytes)
      }
    },

    async 'as much as the engine says comes back'(pair) {
      const bytes = noise(pair.one.maxResponseBytes)
      assert.ok(bytes.length >= 1024 * 1024)
      assertBytes(await replayed(pair, gzip(bytes)), bytes)
    },

    async 'as much text as the engine says comes back'(pair) {
      const text = JSON.stringify('x'.repeat(pair.one.maxResponseBytes - 2))
      assertText(await replayed(pair, json(text)), text)
    },

    async 'a late owner leaves nothing of a large response'({ one, two }) {
      await claimed(one, claimBy(1))
      await claimed(two, claimBy(2), NOW + LEASE_MS)
      const late = noise(LARGE_BYTES)
      assert.equal(await one.complete(KEY, owner(1), gzip(late), NOW + LEASE_MS), 'lost')
      const mine = noise(LARGE_BYTES).reverse()
      assert.equal(await two.complete(KEY, owner(2), gzip(mine), NOW + LEASE_MS), 'done')
      assert.equal(await one.complete(KEY, owner(1), gzip(late), NOW + LEASE_MS), 'lost')
      assertBytes((await one.read(KEY, NOW + LEASE_MS))!, mine)
    },
  },
  {
    async 'large responses of a late owner and the one who took over do not mix'(pair) {
      await claimed(pair.one, claimBy(1))
      await claimed(pair.two, claimBy(2), NOW + LEASE_MS)
      const mine = noise(LARGE_BYTES)
      const late = noise(LARGE_BYTES).reverse()
      const outcomes = await parallel(pair, 8, (store, i) => {
        const isLate = i % 4 < 2
        return store.complete(KEY, owner(isLate ? 1 : 2), gzip(isLate ? late : mine), NOW + LEASE_MS)
      })
      outcomes.forEach((outcome, i) => {
        assert.equal(outcome, i % 4 < 2 ? 'lost' : 'done')
      })
      assertBytes((await pair.one.read(KEY, NOW + LEASE_MS))!, mine)
      assert.equal(await pair.one.complete(KEY, owner(2), gzip(late), NOW + LEASE_MS), 'differs')
    },
  },
)
