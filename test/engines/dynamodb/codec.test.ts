import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isCatracaError } from '../../../src/core/errors.js'
import { expiryTasks } from '../../../src/engines/dynamodb/allowlist/due.js'
import {
  allPlaces,
  importKey,
  listPartition,
  logPartition,
  memberPartition,
  pageKey,
  pageNameKey,
  readCustomerSort,
  readMemberPartition,
  readSequenceSort,
  sequenceSort,
} from '../../../src/engines/dynamodb/allowlist/items.js'
import { decodeMeta, newIncarnation, recordOf } from '../../../src/engines/dynamodb/allowlist/meta.js'
import {
  attributesAt,
  decodeRow,
  encodeRow,
  FOREVER,
  type Row,
  rowOf,
  stateOf,
  visible,
} from '../../../src/engines/dynamodb/allowlist/rows.js'
import {
  AppliedChanges,
  removalOf,
  Tokens,
  UNPROVABLE,
} from '../../../src/engines/dynamodb/allowlist/tokens.js'

import { countSteps, sameAttributes } from '../../../src/guards/allowlist/generation-changes.js'

const place = { listId: 'a', partition: 'ALLOWLIST#a', customerId: 'c' }
const SECOND = 1_900_000_000_000

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const moment = fc.integer({ min: 1, max: 4_000_000_000_000 })
const attributes = fc.record(
  {
    addedBy: fc.string({ minLength: 1 }),
    metadata: fc.dictionary(
      fc.string(),
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer())),
      { noNullPrototype: true },
    ),
    expiresAt: moment,
  },
  { requiredKeys: [], noNullPrototype: true },
)
const generation = fc.integer({ min: 1, max: 1000 })
const anyRow: fc.Arbitrary<Row> = fc
  .record({
    attributes,
    addedAt: moment,
    from: fc.oneof(fc.constant(0), generation),
    until: fc.oneof(fc.constant(FOREVER), generation),
    pin: fc.oneof(fc.constant(0), generation),
    tombstone: fc.boolean(),
    next: optional(fc.record({ from: generation, attributes }, { noNullPrototype: true })),
    changeId: optional(fc.constant('0123456789abcdef0123')),
    batch: optional(fc.constant('b-1')),
    incarnation: optional(fc.integer({ min: 1 })),
  })
  .map(({ attributes: given, ...row }) => {
    const known = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
    return { ...given, ...known } as Row
  })

describe('rows', () => {
  it('are read back as they were written', () => {
    fc.assert(fc.property(anyRow, (row) => assert.deepEqual(decodeRow(encodeRow(place, row)), row)))
  })

  it('are never deleted by DynamoDB while any generation needs them', () => {
    fc.assert(
      fc.property(anyRow, fc.integer({ min: 0, max: 1001 }), (row, seenBy) => {
        const ttl = encodeRow(place, row).expiresAt?.N
        const { expiresAt } = attributesAt(row, seenBy)
        if (ttl === undefined) return
        assert.ok(expiresAt !== undefined && Number(ttl) * 1000 >= expiresAt)
      }),
    )
  })

  it('expire at the moment that another program has moved', () => {
    const item = encodeRow(place, { ...plain, expiresAt: SECOND + 1 })
    assert.equal(decodeRow(item).expiresAt, SECOND + 1)
    assert.equal(
      decodeRow({ ...item, expiresAt: { N: String(SECOND / 1000 + 60) } }).expiresAt,
      SECOND + 60_000,
    )
    const { expiresAt: _, ...without } = item
    assert.equal(decodeRow(without).expiresAt, undefined)
  })

  it('of other programs may say little, and odd things', () => {
    assert.deepEqual(stateOf({}, { incarnation: 1, generation: 0 }), {})
    const odd = { addedAt: { N: '5' }, metadata: { S: 'x' }, addedBy: { N: '1' }, expiresAt: { S: 'soon' } }
    assert.deepEqual(decodeRow(odd), { addedAt: 0, from: 0, until: FOREVER, pin: 0, tombstone: false })
  })

  it('of another list of the same id are none', () => {
    const item = encodeRow(place, { ...plain, incarnation: 7 })
    assert.equal(rowOf(item, { incarnation: 8 }), undefined)
    assert.ok(rowOf(item, { incarnation: 7 }))
  })

  it('are counted by each generation that sees them', () => {
    const list = { generation: 3, replacing: { generation: 4 } }
    const steps = (before: Partial<Row> | undefined, after: Partial<Row> | undefined) =>
      Object.values(countSteps(list, before && { ...plain, ...before }, after && { ...plain, ...after }))
    assert.deepEqual(steps(undefined, {}), [1, 1])
    assert.deepEqual(steps({}, { until: 4 }), [0, -1])
    assert.deepEqual(steps(undefined, { from: 4 }), [0, 1])
    assert.deepEqual(steps({ until: 4 }, { tombstone: true }), [-1, 0])
    assert.deepEqual(steps({ from: 4 }, {}), [1, 0])
    assert.equal(visible(undefined, 0), false)
  })

  it('have the same attributes whatever the order in which a map comes back', () => {
    const one = { metadata: { a: 1, b: { c: 2, d: [1, { e: 3, f: 4 }] } } }
    const two = { metadata: { b: { d: [1, { f: 4, e: 3 }], c: 2 }, a: 1 } }
    assert.ok(sameAttributes(one, two))
    assert.ok(!sameAttributes(one, { metadata: { ...two.metadata, a: 2 } }))
  })
})

const plain: Row = { addedAt: SECOND, from: 0, until: FOREVER, pin: 0, tombstone: false }

describe('names of items', () => {
  const list = { id: 'a', incarnation: 5 }
  const ids = ['a', 'META', 'a.b', '~', 'SHARD_1', 'LOG_5_0_0', 'x:y', '__proto__']

  it('say whose they are, and no id forges another', () => {
    const partitions = new Set<string>()
    let made = 0
    for (const id of ids) {
      for (const shardCount of [1, 3]) {
        for (const { partition, shard } of allPlaces(id, { shardCount, giant: false })) {
          partitions.add(partition)
          made++
          assert.deepEqual(readMemberPartition(partition), {
            listId: id,
            shard: shardCount === 1 ? undefined : shard,
          })
        }
      }
      partitions.add(logPartition({ id, incarnation: 5 }, 0, 0))
      made++
      assert.equal(readMemberPartition(logPartition({ id, incarnation: 5 }, 0, 0)), undefined)
    }
    assert.equal(partitions.size, made)
    for (const sort of [
      'META',
      importKey('a', 'META').SK.S,
      pageKey(list, 'p').SK.S,
      pageNameKey(list, 'p').SK.S,
    ]) {
      assert.equal(readCustomerSort(sort), undefined)
    }
    assert.equal(memberPartition('a', { shardCount: 1, giant: true }, 0), listPartition('a'))
  })

  it('of log entries sort by their number, before the head', () => {
    const numbers = [0, 1, 9, 10, 99, 2 ** 31, Number.MAX_SAFE_INTEGER]
    assert.deepEqual(numbers.map(sequenceSort).toSorted(), numbers.map(sequenceSort))
    assert.ok(numbers.every((n) => readSequenceSort(sequenceSort(n)) === n && sequenceSort(n) < 'HEAD'))
  })
})

describe('META', () => {
  const item = { PK: { S: 'ALLOWLIST#x' }, type: { S: 'FIXA' }, createdAt: { S: '2025-01-01T00:00:00Z' } }

  it('of another program gives the list an incarnation that lasts as long as it', () => {
    const { incarnation } = decodeMeta(item)
    assert.ok(Number.isSafeInteger(incarnation) && incarnation > 0)
    assert.equal(decodeMeta({ ...item, name: { S: 'other' } }).incarnation, incarnation)
    assert.notEqual(
      decodeMeta({ ...item, createdAt: { S: '2025-01-02T00:00:00Z' } }).incarnation,
      incarnation,
    )
    assert.notEqual(decodeMeta({ ...item, PK: { S: 'ALLOWLIST#y' } }).incarnation, incarnation)
  })

  it('of another program may have any config: what is not understood lets nobody in', () => {
    const wave = (config: object) => recordOf(decodeMeta({ ...item, type: { S: 'ONDA' }, ...config })).config
    const closed = { strategy: 'EXPLICIT_LIST', customerIds: [] }
    assert.deepEqual(wave({}), closed)
    assert.deepEqual(wave({ config: { S: 'x' } }), closed)
    const odd = {
      strategy: { S: 'EXPLICIT_LIST' },
      customerIds: { SS: ['a', 'b'] },
      percentage: { S: '1' },
      ramp: { L: [{ S: 'x' }, { M: { at: { N: '1' }, percentage: { N: '0.5' } } }] },
    }
    assert.deepEqual(wave({ config: { M: odd } }), {
      strategy: 'EXPLICIT_LIST',
      customerIds: ['a', 'b'],
      ramp: [{ at: 1, percentage: 0.5 }],
    })
    assert.throws(
      () => decodeMeta({ ...item, type: { S: 'OTHER' } }),
      (error) => isCatracaError(error, 'ALLOWLIST_UNREADABLE'),
    )
  })

  it('of ours has incarnations that do not repeat', () => {
    const made = new Set(Array.from({ length: 10_000 }, newIncarnation))
    assert.equal(made.size, 10_000)
    assert.ok([...made].every((one) => Number.isSafeInteger(one) && one > 0))
  })
})

describe('tokens', () => {
  const applied = new AppliedChanges(3)
  const tokens = new Tokens('0a1b', applied)
  const state = { id: 'a', incarnation: 2 ** 53 - 1, generation: 3, layout: 1 }
  const at = (sequence: number, mark = 2) => [
    { sequence: 9, mark },
    { sequence, mark },
  ]

  it('carry the state of the list, and are of one store', () => {
    const token = tokens.read(tokens.write(state, 'abc'))
    assert.deepEqual([token.incarnation, token.generation, token.layout], [state.incarnation, 3, 1])
    const other = new Tokens('ffff', applied).write(state, 'abc')
    for (const wrong of [
      other,
      '',
      'd',
      'd.0a1b.1.0.0',
      'd.0a1b.1.0.0.a.b',
      'e.0a1b.1.1',
      'd.0a1b.1.0.0.#',
    ]) {
      assert.throws(
        () => tokens.read(wrong),
        (error) => isCatracaError(error, 'INVALID_INPUT'),
        wrong,
      )
    }
  })

  it('are in an image only when its log was seen to carry all of their changes', () => {
    const both = tokens.read(tokens.write(state, 'one', removalOf('two')))
    assert.equal(both.isIn(at(100)), false)
    applied.note(state.incarnation, 1, 5, 2, ['one'])
    assert.equal(both.isIn(at(100)), false)
    applied.note(state.incarnation, 1, 7, 2, ['-two'])
    assert.deepEqual([both.isIn(at(6)), both.isIn(at(7)), both.isIn(at(8))], [false, true, true])
    // Another layout has logs of its own.
    assert.equal(both.isIn(at(8, 4)), false)
    assert.equal(both.isIn([{ sequence: 9, mark: 2 }]), false)
    const ofOther = tokens.read(tokens.write({ ...state, incarnation: 5 }, 'one'))
    assert.equal(ofOther.isIn(at(100)), false)
    assert.equal(tokens.read(tokens.write(state, UNPROVABLE)).isIn(at(100)), false)
    applied.note(state.incarnation, 1, 8, 2, ['three', 'four'])
    assert.equal(both.isIn(at(100)), false)
  })
})

describe('members that expire', () => {
  const many = (count: number, expiresAt: (i: number) => number) =>
    expiryTasks(
      'a',
      Array.from({ length: count }, (_, i) => ({ customerId: `c${i}`, expiresAt: expiresAt(i) })),
    )

  it('are noted one by one when they are few, by moments when they are many', () => {
    assert.deepEqual(
      many(1, () => 5),
      [{ kind: 'EXPIRE', at: 5, parts: ['a', 'c0'] }],
    )
    assert.equal(many(100, (i) => i).length, 100)
    assert.deepEqual(
      many(1000, (i) => (i % 3) + 1).map(({ kind, at }) => [kind, at]),
      [1, 2, 3].map((at) => ['EXPIRE_ALL', at]),
    )
    const hours = many(1000, (i) => i * 60_000)
    assert.ok(hours.length <= 18 && hours.every(({ at }) => at % 3_600_000 === 0))
    assert.ok(hours.some(({ at }) => at >= 999 * 60_000))
  })
})
