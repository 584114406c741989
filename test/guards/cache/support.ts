import { after } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ManualClock } from '../../../src/core/clock.js'
import { CatracaError } from '../../../src/core/errors.js'
import { openEmbedded } from '../../../src/engines/embedded/index.js'
import { Caches } from '../../../src/guards/cache/index.js'
import type { NeededCodec, SpaceOptions } from '../../../src/guards/cache/options.js'
import type { CacheStore } from '../../../src/guards/cache/port.js'
import type { CacheSpace } from '../../../src/guards/cache/space.js'
import { PATIENCE_MS } from '../../support/patient.js'

export const START = Date.UTC(2030, 0, 1)
export const TTL_MS = 60_000

/** A real store that can be taken away: it refuses, or it never answers. */
export class Interruptible {
  state: 'up' | 'refusing' | 'silent' = 'up'
  /** How long a refusal takes. */
  refusalMs = 0
  /** How long an answer takes. */
  answerMs = 0
  /** How often it was called. */
  calls = 0
  /** Answers are kept back until then. */
  hold: Promise<void> | undefined
  readonly store: CacheStore

  constructor(inner: CacheStore) {
    this.store = new Proxy(inner, {
      get: (_, name) => {
        const member: unknown = inner[name as keyof CacheStore]
        if (typeof member !== 'function' || name === 'watch') {
          return typeof member === 'function' ? member.bind(inner) : member
        }
        return (...args: unknown[]) => this.call(() => member.apply(inner, args))
      },
    })
  }

  private call(work: () => unknown): unknown {
    this.calls++
    if (this.state === 'silent') return new Promise(() => {})
    if (this.state === 'refusing') return this.refuse()
    const { hold, answerMs } = this
    if (answerMs > 0) return (work() as Promise<unknown>).then((answer) => pause(answerMs, answer))
    return hold === undefined
      ? work()
      : (work() as Promise<unknown>).then((answer) => hold.then(() => answer))
  }

  private async refuse(): Promise<never> {
    if (this.refusalMs > 0) await pause(this.refusalMs)
    throw new CatracaError('ENGINE_UNAVAILABLE', 'taken away on purpose')
  }
}

export interface Scene<T> {
  space: CacheSpace<T>
  caches: Caches
  clock: ManualClock
  tier: Interruptible
  /** What other programs see and write. */
  raw: CacheStore
  reports: string[]
}

const engine = openEmbedded()
after(() => engine.close())
let spaces = 0
/** An overloaded machine must not be taken for a store that is down, nor for a load that takes too long. */
const PATIENT = { timeoutMs: PATIENCE_MS, leaseMs: PATIENCE_MS, hardLoadTimeoutMs: PATIENCE_MS }

/** A space of its own on a real store, with a clock that stands still and chance that always says `random`. */
export function openSpace<T = unknown>(options: Partial<SpaceOptions<T>> = {}, random = () => 0): Scene<T> {
  const clock = new ManualClock(START)
  const tier = new Interruptible(engine.cache)
  const reports: string[] = []
  const report = (message: string) => void reports.push(message)
  const caches = new Caches({ store: tier.store, clock, report, random })
  after(() => caches.close())
  const given = { name: `space-${++spaces}`, ttlMs: TTL_MS, ...PATIENT, ...options }
  const space = caches.space<T>(given as SpaceOptions<T> & NeededCodec<T>)
  return { space, caches, clock, tier, raw: engine.cache, reports }
}

/** What is stored, as another program would find it. */
export async function storedValue(
  { raw, space, clock }: Pick<Scene<never>, 'raw' | 'clock'> & { space: { name: string } },
  key: string,
) {
  const [found] = await raw.read(space.name, [key], clock.now())
  return found
}

export async function writeRaw(
  { raw, space, clock }: Pick<Scene<never>, 'raw' | 'clock'> & { space: { name: string } },
  key: string,
  value: string | Uint8Array,
): Promise<void> {
  await raw.write(space.name, [{ key, value, lifeMs: TTL_MS, tags: [] }], clock.now())
}
