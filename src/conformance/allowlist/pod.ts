import assert from 'node:assert/strict'
import { systemClock } from '../../core/clock.js'
import { isCatracaError } from '../../core/errors.js'
import { Checker } from '../../guards/allowlist/checker.js'
import { LastKnown } from '../../guards/allowlist/last-known/index.js'
import { DEFAULT_LAST_KNOWN, type LastKnownOptions } from '../../guards/allowlist/last-known/options.js'
import { RememberedLists } from '../../guards/allowlist/last-known/remembered-lists.js'
import { buildIndex } from '../../guards/allowlist/membership/build.js'
import { IndexedChecks } from '../../guards/allowlist/membership/indexed-checks.js'
import { Indexes } from '../../guards/allowlist/membership/indexes.js'
import { DEFAULT_MEMBERSHIP } from '../../guards/allowlist/membership/options.js'
import type { AllowlistEngine, Freshness } from '../../guards/allowlist/port.js'
import type { CheckAnswer } from '../../guards/allowlist/types.js'
import { cuttable } from '../cut.js'
import { customer, NOW, newFixa, until } from '../support.js'

const LEASE_MS = 60_000
/** Customers below this are members of what `known` makes. */
export const MEMBERS = 40

interface Pod {
  check(customerId: string, lists: string[], freshness?: Freshness): Promise<CheckAnswer>
  reasons(lists: string[], ids: string[]): Promise<string[]>
  load(id: string): Promise<void>
  cut(isAway: boolean): void
  close(): Promise<void>
}

/** A pod that answers from what it last knew, on an engine that can be cut off from its store. */
function openPod(engine: AllowlistEngine, options: Partial<LastKnownOptions> = {}): Pod {
  const cut = cuttable(engine)
  const { checks, index, changes, lists } = cut.port
  const clock = systemClock
  const build = async (list: { id: string }) => {
    const { id, incarnation, precision } = (await lists.get(list.id))!
    const of = { id, incarnation, precision }
    await buildIndex({ index, changes, list: of, leaseMs: LEASE_MS, clock, threads: 0 })
  }
  const indexes = new Indexes({
    ...{ index, changes, clock, build, report: () => {} },
    options: { ...DEFAULT_MEMBERSHIP, compareIntervalMs: 20 },
  })
  const { isImmediate } = engine.changes
  const remembered = new RememberedLists(checks, isImmediate ? 0 : DEFAULT_MEMBERSHIP.staleAfterMs)
  const lastKnown = new LastKnown({
    ...{ lists: remembered, indexes, clock, isImmediate },
    options: { ...DEFAULT_LAST_KNOWN, ...options },
  })
  const checker = new Checker(new IndexedChecks(remembered, indexes, clock), clock, {
    onUnavailable: 'last-known',
    lastKnown,
  })
  const check = async (customerId: string, ids: string[], freshness?: Freshness) =>
    checker.check(customerId, ids, freshness)
  return {
    check,
    async reasons(ids, of) {
      const answers = await Promise.all(of.map((id) => check(id, ids)))
      return answers.flatMap(({ results }) => results.map(({ reason }) => reason))
    },
    async load(id) {
      const { incarnation } = (await lists.get(id))!
      await indexes.rebuild({ id, incarnation }, true)
      assert.ok(indexes.get(incarnation).index, `${id} is in memory`)
    },
    cut(isAway) {
      cut.isAway = isAway
    },
    close: () => indexes.close(),
  }
}

export async function withPod(
  engine: AllowlistEngine,
  options: Partial<LastKnownOptions>,
  work: (pod: Pod) => Promise<void>,
): Promise<void> {
  const pod = openPod(engine, options)
  try {
    await work(pod)
  } finally {
    await pod.close()
  }
}

/** A list of the customers below `MEMBERS`, known to the pod. */
export async function known(engine: AllowlistEngine, pod: Pod, id: string): Promise<void> {
  await newFixa(engine, id)
  for (let i = 0; i < MEMBERS; i++) await engine.members.add(id, customer(i), {}, NOW)
  await pod.load(id)
  await pod.check(customer(0), [id])
}

/** Memory answers while it is fresh, so the outage shows when that has ended. */
export const degradedNow = (pod: Pod, ids: string[]) =>
  until('memory is no longer fresh', async () => (await pod.check(customer(0), ids)).degraded === true)

export const isAway = (error: unknown) => isCatracaError(error, 'ENGINE_UNAVAILABLE')
