import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CallInFlight, CallsInFlight } from '../../../src/engines/redis/link/calls-in-flight.js'
import { Coalescer, returning } from '../../../src/engines/redis/link/coalescer.js'

const doubled = (items: number[]) => items.map((item) => item * 2)

describe('coalescer', () => {
  it('carries what is asked together once for each group, and gives each its answer', async () => {
    const carried: [string, number[]][] = []
    const coalescer = new Coalescer<string, number, number>(
      returning(async (group, items) => {
        carried.push([group, items])
        return doubled(items)
      }),
      { maxItems: 10 },
    )
    const asked = [coalescer.ask('a', 1), coalescer.ask('b', 2), coalescer.ask('a', 3)]
    assert.deepEqual(await Promise.all(asked), [2, 4, 6])
    assert.deepEqual(carried, [
      ['a', [1, 3]],
      ['b', [2]],
    ])
  })

  it('keeps the error of one from the others, and gives a common one to all', async () => {
    const coalescer = new Coalescer<string, number, number>(
      returning(async (group, items) => {
        if (group === 'broken') throw new Error('all')
        return items.map((item) => (item < 0 ? new Error('one') : item))
      }),
      { maxItems: 10 },
    )
    const outcomes = await Promise.allSettled([
      ...[1, -1, 2].map((item) => coalescer.ask('a', item)),
      ...[1, 2].map((item) => coalescer.ask('broken', item)),
    ])
    const told = outcomes.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))
    assert.deepEqual(told, [1, 'Error: one', 2, 'Error: all', 'Error: all'])
  })

  it('does not mix up answers when their number is wrong', async () => {
    const coalescer = new Coalescer<string, number, number>(
      returning(async () => [1]),
      { maxItems: 10 },
    )
    const outcomes = await Promise.allSettled([coalescer.ask('a', 1), coalescer.ask('a', 2)])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
  })

  it('keeps to its bounds of items and bytes', async () => {
    const sizes: number[] = []
    const carry = async (_: string, items: number[]) => {
      sizes.push(items.length)
      return doubled(items)
    }
    const byItems = new Coalescer(returning(carry), { maxItems: 4 })
    await Promise.all(Array.from({ length: 10 }, (_, i) => byItems.ask('a', i)))
    assert.deepEqual(sizes.splice(0), [4, 4, 2])
    const byBytes = new Coalescer(returning(carry), {
      maxItems: 100,
      maxBytes: 10,
      sizeOf: (item: number) => item,
    })
    await Promise.all([4, 4, 4, 50, 1, 1].map((item) => byBytes.ask('a', item)))
    assert.deepEqual(sizes, [2, 1, 1, 2])
  })

  it('keeps two batches on their way rather than all in one, where that is asked for', async () => {
    const ended: (() => void)[] = []
    const sizes: number[] = []
    const coalescer = new Coalescer<string, number, number>(
      returning(async (_, items) => {
        sizes.push(items.length)
        await new Promise<void>((resolve) => ended.push(resolve))
        return doubled(items)
      }),
      { maxItems: 100, overlaps: true },
    )
    let rounds = 0
    const lane = async () => {
      while (rounds < 40) await coalescer.ask('a', 1)
    }
    const lanes = Promise.all(Array.from({ length: 40 }, lane))
    for (; rounds < 40; rounds++) {
      await new Promise((resolve) => setImmediate(resolve))
      ended.shift()?.()
    }
    for (; ended.length > 0; await new Promise((resolve) => setImmediate(resolve))) ended.shift()!()
    await lanes
    assert.ok(Math.max(...sizes) <= 20, `sizes of batches: ${sizes}`)
  })

  it('sends one batch for each group of a burst, also if they were idle before', async () => {
    const sizes: number[] = []
    const coalescer = new Coalescer<number, number, number>(
      returning(async (_, items) => {
        sizes.push(items.length)
        return doubled(items)
      }),
      { maxItems: 100, overlaps: true },
    )
    await Promise.all(Array.from({ length: 100 }, (_, i) => coalescer.ask(i % 5, i)))
    assert.deepEqual(sizes, [20, 20, 20, 20, 20])
  })

  it('lets a single caller wait for nothing, and gathers a whole turn while a batch is on its way', async () => {
    const sizes: number[] = []
    let release: () => void = () => {}
    const coalescer = new Coalescer<string, number, number>(
      returning(async (_, items) => {
        sizes.push(items.length)
        if (sizes.length === 1) await new Promise<void>((resolve) => (release = resolve))
        return doubled(items)
      }),
      { maxItems: 100 },
    )
    const first = coalescer.ask('a', 1)
    await new Promise<void>((resolve) => process.nextTick(resolve))
    assert.deepEqual(sizes, [1])
    const later = [coalescer.ask('a', 2)]
    // As requests of other sockets come, each with its own microtasks.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    await Promise.resolve()
    later.push(coalescer.ask('a', 3))
    assert.deepEqual(await Promise.all(later), [4, 6])
    assert.deepEqual(sizes, [1, 2])
    release()
    assert.equal(await first, 2)
  })
})

describe('flights', () => {
  const flight = (deadlineMs: number): CallInFlight => ({
    ...{ args: [], binary: false, deadlineMs },
    onReply: () => {},
    onFailure: () => {},
  })

  it('are taken once each, in any order, also beyond the first size of the ring', () => {
    const flights = new CallsInFlight()
    for (let round = 0; round < 3; round++) {
      const places = Array.from({ length: 300 }, () => flights.add(flight(1), 0))
      assert.equal(flights.size, 300)
      for (const place of places.filter((each) => each % 3 === 1)) assert.ok(flights.take(place))
      for (const place of places) assert.equal(flights.take(place), place % 3 !== 1)
      for (const place of places) assert.ok(!flights.take(place))
      assert.equal(flights.size, 0)
    }
  })

  it('that are late are taken, and the others stay', () => {
    const flights = new CallsInFlight()
    const [early, late] = [flights.add(flight(10), 0), flights.add(flight(20), 0)]
    const last = flights.add(flight(5), 0)
    assert.deepEqual(
      flights.takeLate(10).map(({ deadlineMs }) => deadlineMs),
      [10, 5],
    )
    assert.deepEqual(
      [early, late, last].map((place) => flights.take(place)),
      [false, true, false],
    )
    flights.add(flight(1), 0)
    assert.equal(flights.takeAll().length, 1)
    assert.equal(flights.size, 0)
  })
})
