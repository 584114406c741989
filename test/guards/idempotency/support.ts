import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '../../../src/core/clock.js'
import { CatracaError } from '../../../src/core/errors.js'
import { systemTiming } from '../../../src/core/timing.js'
import { Idempotency } from '../../../src/guards/idempotency/index.js'
import { DEFAULT_IDEMPOTENCY, type IdempotencyOptions } from '../../../src/guards/idempotency/options.js'
import type { IdempotencyStore } from '../../../src/guards/idempotency/port.js'
import { embeddedInTurn } from '../../support/embedded-pair.js'
import { PATIENCE_MS } from '../../support/patient.js'

const nextEngine = embeddedInTurn()
const VERBS = ['claim', 'complete', 'fail', 'release', 'extend', 'read'] as const
type Verb = (typeof VERBS)[number]

export interface Opened {
  idempotency: Idempotency
  /** Over the same engine, which it does not disturb, and with time enough on a busy machine. */
  patient: Idempotency
  store: IdempotencyStore
  /** Runs before a verb reaches the engine; what it throws is the answer. */
  before: Partial<Record<Verb, () => unknown>>
  /** Runs after the engine has answered, before anybody hears of it. */
  after: Partial<Record<Verb, () => unknown>>
  reports: string[]
  calls: Record<string, number>
}

interface Given {
  options?: Partial<IdempotencyOptions>
  clock?: Clock
  monotonicMs?: () => number
}

/** The guard over a real engine whose verbs can be told to fail, or to wait. */
export function open(t: TestContext, { options, clock = systemClock, monotonicMs }: Given = {}): Opened {
  const engine = nextEngine()
  // What the test has left waiting is not to trouble the next one on the same engine.
  t.after(() => {
    for (const verb of VERBS) faulty[verb] = never
  })
  const opened = { before: {}, after: {}, reports: [] as string[], calls: {} as Record<string, number> }
  const store = engine.idempotency
  const faulty = Object.create(store) as Record<string, unknown>
  for (const verb of VERBS) {
    faulty[verb] = async (...args: unknown[]) => {
      opened.calls[verb] = (opened.calls[verb] ?? 0) + 1
      await (opened as unknown as Opened).before[verb]?.()
      const answer = await (store[verb] as (...args: unknown[]) => unknown)(...args)
      await (opened as unknown as Opened).after[verb]?.()
      return answer
    }
  }
  const parts = {
    // A busy machine is no engine that does not answer.
    options: { ...DEFAULT_IDEMPOTENCY, timeoutMs: PATIENCE_MS },
    clock,
    report: (message: string) => void opened.reports.push(message),
    ...(monotonicMs && { timing: { ...systemTiming, monotonicMs } }),
  }
  const guarded = { ...parts, store: faulty as unknown as IdempotencyStore }
  const idempotency = new Idempotency({ ...guarded, options: { ...parts.options, ...options } })
  return { ...opened, idempotency, patient: new Idempotency({ ...parts, store }), store }
}

export const down = () => {
  throw new CatracaError('ENGINE_UNAVAILABLE', 'down')
}

export const mustNotRun = (): never => {
  throw new Error('it was done again')
}

export const never = () => new Promise(() => {})

/** Waits for something that another turn of the loop brings about. */
export async function until(met: () => boolean, withinMs = PATIENCE_MS): Promise<void> {
  for (const deadline = Date.now() + withinMs; !met(); await sleep(2))
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms`)
}

export function deferred<T = void>() {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
