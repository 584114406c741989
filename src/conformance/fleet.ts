import assert from 'node:assert/strict'
import type { FleetRecord, FleetStore } from '../guards/fleet/port.js'
import { suite } from './suite.js'
import { NOW, parallel, until } from './support.js'

const LONG_MS = 600_000
const HOUR_MS = 3_600_000

/** Each case has names of its own: an engine may keep records outside of what is emptied between cases. */
async function named(store: FleetStore, prefix: string, now = NOW): Promise<FleetRecord[]> {
  const found = (await store.list(now)).filter(({ id }) => id.startsWith(prefix))
  return found.sort((a, b) => (a.id < b.id ? -1 : 1))
}

export const fleetSuite = suite<FleetStore>(
  'fleet',
  {
    async 'what a process announces the others find, and its last word counts'({ one, two }) {
      assert.deepEqual(await named(two, 'word-'), [])
      await one.announce('word-a', '{"é":1}', LONG_MS, NOW)
      await two.announce('word-b', 'b', LONG_MS, NOW)
      await one.announce('word-a', 'two words\nand a line', LONG_MS, NOW + 1)
      const found = await named(two, 'word-', NOW + 2)
      assert.deepEqual(
        found.map(({ id, text }) => [id, text]),
        [
          ['word-a', 'two words\nand a line'],
          ['word-b', 'b'],
        ],
      )
      for (const { ageMs } of found) assert.ok(ageMs >= 0 && ageMs < LONG_MS, `${ageMs}`)
    },

    async 'a record that is not announced again is gone'({ one, two }) {
      await one.announce('gone-a', 'a', 50, NOW)
      await one.announce('gone-b', 'b', LONG_MS, NOW)
      // An engine may have a clock of its own: then the time passes, otherwise it is given.
      await until('the record has expired', async () => (await named(two, 'gone-', NOW + 60)).length === 1)
      assert.equal((await named(one, 'gone-', NOW + 60))[0]!.id, 'gone-b')
    },

    async 'a process that ends is gone at once'({ one, two }) {
      await one.announce('ends-a', 'a', LONG_MS, NOW)
      await two.leave('ends-a')
      assert.deepEqual(await named(one, 'ends-'), [])
      await two.leave('ends-a')
    },

    async 'the largest record is kept whole'({ one, two }) {
      const text = JSON.stringify('\u{1f3ab}'.repeat(1000))
      await one.announce('large-a', text, LONG_MS, NOW)
      assert.equal((await named(two, 'large-'))[0]!.text, text)
      assert.ok(one.expireMs > 2 * one.announceMs, 'one announcement may be lost')
      assert.ok(one.expireMs < HOUR_MS)
    },
  },
  {
    async 'of many processes each is found, with its last word'(pair) {
      await parallel(pair, 40, (store, i) => store.announce(`race-${i % 20}`, `${i}`, LONG_MS, NOW))
      const found = await named(pair.two, 'race-')
      assert.equal(found.length, 20)
      for (const { id, text } of found) assert.equal(Number(text) % 20, Number(id.slice('race-'.length)))
    },
  },
)
