import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { holds, NOW } from '../../src/conformance/support.js'
import type { AllowlistEngine } from '../../src/guards/allowlist/port.js'

export interface Traffic {
  /** Who must be a member when everything has come to rest, of those that were changed. */
  readonly members: ReadonlySet<string>
  readonly writes: number
  readonly checks: number
  /** Ends it; rejects when an answer was wrong. */
  stop(): Promise<void>
}

interface TrafficOptions {
  /** Never changed: always members. */
  staying: readonly string[]
  /** Added and removed all the time; all of them are members at first. */
  changing: readonly string[]
  writers: number
  checkers: number
  /** Each waits so long between two changes, or two checks; 0 unless told otherwise. */
  pauseMs?: number
}

/**
 * Changes some members of a list, and asks all the time for others, and for what was just changed. Each changing
 * customer has one writer, so that it is known at every moment whether it is a member.
 */
export function startTraffic(
  engines: readonly AllowlistEngine[],
  listId: string,
  { staying, changing, writers, checkers, pauseMs = 0 }: TrafficOptions,
): Traffic {
  const members = new Set(changing)
  const figures = { writes: 0, checks: 0 }
  let isOver = false
  const engine = (i: number): AllowlistEngine => engines[i % engines.length]!

  const write = async (writer: number): Promise<void> => {
    const mine = changing.filter((_, i) => i % writers === writer)
    for (let i = 0; !isOver; i++) {
      const customerId = mine[(i * 7) % mine.length]!
      const wasMember = members.has(customerId)
      const by = engine(writer + i)
      if (wasMember) {
        const { outcome } = await by.members.remove(listId, customerId, NOW)
        assert.equal(outcome, 'removed', customerId)
        members.delete(customerId)
      } else {
        const { outcome } = await by.members.add(listId, customerId, { addedBy: `writer-${writer}` }, NOW)
        assert.equal(outcome, 'added', customerId)
        members.add(customerId)
      }
      figures.writes++
      assert.equal(await holds(engine(writer + i + 1), listId, customerId), !wasMember, customerId)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }

  const check = async (checker: number): Promise<void> => {
    for (let i = checker; !isOver; i += checkers) {
      const customerId = staying[(i * 13) % staying.length]!
      const asks = engine(i)
      assert.equal(await isMember(asks, listId, customerId, i % 2 === 0), true, `${customerId} is a member`)
      assert.equal(await isMember(asks, listId, `nobody-${i}`, i % 2 === 0), false, 'a stranger is none')
      figures.checks += 2
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }

  const all = Promise.all([
    ...Array.from({ length: writers }, (_, i) => write(i)),
    ...Array.from({ length: checkers }, (_, i) => check(i)),
  ]).finally(() => {
    isOver = true
  })
  // Looked at in `stop`.
  all.catch(() => {})
  return {
    members,
    get writes() {
      return figures.writes
    },
    get checks() {
      return figures.checks
    },
    async stop() {
      isOver = true
      await all
    },
  }
}

async function isMember(
  engine: AllowlistEngine,
  listId: string,
  customerId: string,
  strong: boolean,
): Promise<boolean> {
  const view = await engine.checks.view(strong ? 'strong' : undefined)
  const list = await view.list(listId)
  assert.ok(list, 'the list is there')
  return (await view.member(list, customerId)) !== undefined
}
