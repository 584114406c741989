import assert from 'node:assert/strict'
import { isReset, readEntry } from '../../guards/allowlist/changes/entry.js'
import type { ListRef, LogPosition, Position } from '../../guards/allowlist/changes/port.js'
import { readCustomerKey } from '../../guards/allowlist/customer-key.js'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import { suite } from '../suite.js'
import {
  addAll,
  allMembers,
  customer,
  customers,
  NOW,
  newFixa,
  parallel,
  replaceBy,
  sweepAll,
  until,
} from '../support.js'
import { known, MEMBERS, withPod } from './pod.js'

type Told = { log: number; sequence: number; changes: string[] | 'reset' }

/** The start position of a new list, with as many logs as it has shards. */
async function beginningOf(engine: AllowlistEngine, list: ListRef): Promise<Position> {
  const { shardCount } = (await engine.lists.get(list.id))!
  return Array.from({ length: shardCount }, () => ({ sequence: 0, mark: 0 }))
}

/**
 * The entries of all logs of a list after a position, as text: `+id` or `-id`. The numbers in each log must have no
 * gaps.
 */
async function logsOf(engine: AllowlistEngine, list: ListRef, after?: Position): Promise<Told[]> {
  const told: Told[] = []
  const position: LogPosition[] = [...(after ?? (await beginningOf(engine, list)))]
  for (;;) {
    const part = await engine.changes.read(list, position)
    assert.ok(part !== 'gap')
    for (const { log, sequence, mark, bytes } of part.entries) {
      assert.equal(sequence, position[log]!.sequence + 1)
      told.push({ log, sequence, changes: isReset(bytes) ? 'reset' : wordsOf(bytes) })
      position[log] = { sequence, mark }
    }
    if (!part.more) return told
  }
}

/** The changes in the order of each log; all changes of one customer are in one log. */
const changesOf = (told: Told[]): string[] => told.flatMap(({ changes }) => changes)

/** Number of entries in all logs. */
async function entriesOf(engine: AllowlistEngine, list: ListRef): Promise<number | undefined> {
  const position = await engine.changes.position(list)
  return position?.reduce((sum, { sequence }) => sum + sequence, 0)
}

function wordsOf(entry: Uint8Array): string[] {
  const words: string[] = []
  readEntry(entry, {
    added: (bytes, start, end, addedAt, expiresAt) => {
      const times = `${addedAt - NOW}${expiresAt === undefined ? '' : `..${expiresAt - NOW}`}`
      words.push(`+${readCustomerKey(bytes, start, end)} ${times}`)
    },
    removed: (bytes, start, end) => words.push(`-${readCustomerKey(bytes, start, end)}`),
  })
  return words
}

/** The members that result from the log alone. */
function replay(told: Told[]): string[] {
  const members = new Set<string>()
  for (const { changes } of told) {
    assert.notEqual(changes, 'reset')
    for (const change of changes) {
      const id = change.slice(1).split(' ')[0]!
      if (change.startsWith('+')) members.add(id)
      else members.delete(id)
    }
  }
  return [...members]
}

/** `largeReplace`: of so many customers a replace is told as a reset. */
export const changeSuiteOf = ({ largeReplace }: { largeReplace: number }) =>
  suite<AllowlistEngine>(
    'allowlist changes',
    {
      async 'a token that memory can prove is answered by it while the store is away'({ one, two }) {
        await withPod(one, {}, async (pod) => {
          await known(one, pod, 'a')
          const added = await two.members.add('a', customer(MEMBERS), {}, NOW)
          const { token } = added as { token: string }
          const seen = () => pod.check(customer(MEMBERS), ['a'], { atLeast: token })
          await until('the add is in memory', async () => {
            pod.cut(true)
            const answer = await seen().catch(() => undefined)
            pod.cut(false)
            return answer?.degraded === true && answer.overallAllowed
          })
        })
      },

      async 'every change is told once, in order, without holes'({ one, two }) {
        const list = await newFixa(one, 'a')
        assert.deepEqual(await logsOf(one, list), [])
        assert.deepEqual(await one.changes.position(list), await beginningOf(one, list))
        await one.members.add('a', customer(1), {}, NOW)
        await two.members.add('a', customer(2), { expiresAt: NOW + 9 }, NOW + 1)
        const second = await two.changes.position(list)
        await two.members.remove('a', customer(1), NOW)
        await one.members.remove('a', customer(1), NOW)
        const told = await logsOf(two, list)
        const about = (id: string) => changesOf(told).filter((change) => change.includes(id))
        assert.deepEqual(about(customer(1)), [`+${customer(1)} 0`, `-${customer(1)}`])
        assert.deepEqual(about(customer(2)), [`+${customer(2)} 1..9`])
        assert.equal(told.length, 3)
        if (second!.length === 1) assert.equal(told[1]!.changes[0], `+${customer(2)} 1..9`)
        assert.equal(await entriesOf(one, list), 3)
        assert.deepEqual(changesOf(await logsOf(one, list, second)), [`-${customer(1)}`])
      },

      async 'a batch is one entry of each log, with the customers that it changed'({ one }) {
        const list = await newFixa(one, 'a')
        await one.members.add('a', customer(3), {}, NOW)
        const before = (await one.changes.position(list))!
        await addAll(one, 'a', customers(0, 5))
        const batch = await logsOf(one, list, before)
        assert.equal(new Set(batch.map(({ log }) => log)).size, batch.length)
        const expected = [0, 1, 2, 4].map((i) => `+${customer(i)} 0`)
        assert.deepEqual(changesOf(batch).toSorted(), expected.toSorted())
      },

      async 'a small replace is one entry, with its differences as they end up'({ one }) {
        const list = await newFixa(one, 'a')
        await addAll(one, 'a', customers(0, 10))
        const before = (await one.changes.position(list))!
        await replaceBy(one, 'a', customers(3, 12), async () => {
          await one.members.add('a', customer(0), {}, NOW + 1)
          await one.members.remove('a', customer(11), NOW)
        })
        const told = await logsOf(one, list, before)
        if (before.length > 1) return assertLastOfEach(told, before)
        // The removal of a customer who is not a member before the switch may be in the log or not.
        const meanwhile = changesOf(told.slice(0, -1)).filter((change) => change !== `-${customer(11)}`)
        assert.deepEqual(meanwhile, [`+${customer(0)} 0`])
        const last = told.at(-1)!.changes as string[]
        assert.ok(last.includes(`+${customer(10)} 0`))
        assert.ok(last.includes(`-${customer(1)}`) && last.includes(`-${customer(2)}`))
        assert.deepEqual(replay(await logsOf(one, list)).toSorted(), (await allMembers(one, 'a')).toSorted())
      },

      async 'a large replace is told as a reset'({ one }) {
        const list = await newFixa(one, 'a')
        const before = (await one.changes.position(list))!
        await replaceBy(one, 'a', customers(0, largeReplace))
        assertLastOfEach(await logsOf(one, list), before)
      },

      async 'expiry is told as a removal'({ one, two }) {
        const list = await newFixa(one, 'a')
        await one.members.add('a', customer(1), { expiresAt: NOW + 1 }, NOW)
        await sweepAll(two, NOW + 5)
        const told = await logsOf(one, list)
        assert.deepEqual(told.at(-1), { log: told[0]!.log, sequence: 2, changes: [`-${customer(1)}`] })
      },

      async 'a list that is gone has no position, and its log no continuation'({ one }) {
        const list = await newFixa(one, 'a')
        await one.members.add('a', customer(1), {}, NOW)
        const before = await one.changes.position(list)
        await one.lists.delete('a', NOW)
        assert.equal(await one.changes.position(list), undefined)
        await sweepAll(one)
        assert.equal(await one.changes.read(list, before!), 'gap')
      },

      async 'whoever follows is woken, or can tell by itself, when another instance writes'({ one, two }) {
        await newFixa(one, 'a')
        let woken = 0
        const watch = two.changes.watch(() => woken++)
        two.changes.hasChanges()
        await one.members.add('a', customer(1), {}, NOW)
        await until('the change', () => woken > 0 || two.changes.hasChanges())
        watch.stop()
      },
    },
    {
      async 'the log of many writers replays to what the list holds'(pair) {
        const list = await newFixa(pair.one, 'a')
        await parallel(pair, 200, (engine, i): Promise<unknown> => {
          const id = customer((i * 7) % 23)
          return Math.imul(i, 0x9e3779b1) & 0x10000
            ? engine.members.add('a', id, {}, NOW)
            : engine.members.remove('a', id, NOW)
        })
        const told = await logsOf(pair.two, list)
        assert.equal(told.length, await entriesOf(pair.one, list))
        assert.deepEqual(replay(told).toSorted(), (await allMembers(pair.one, 'a')).toSorted())
      },
    },
  )

export const changeSuite = changeSuiteOf({ largeReplace: 10_001 })

/** Logs of several shards cannot record a switch in one entry, so each ends with a reset. */
function assertLastOfEach(told: Told[], before: Position): void {
  for (const log of before.keys()) {
    assert.equal(told.filter((entry) => entry.log === log).at(-1)?.changes, 'reset', `log ${log}`)
  }
}
