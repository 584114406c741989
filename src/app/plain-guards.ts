import { type Clock, steadyClock, systemClock } from '../core/clock.js'
import { timingOf } from '../core/timing.js'
import type { Engine, EnginePorts } from '../engines/engine.js'
import { ApiKeys } from '../guards/access/index.js'
import { Caches } from '../guards/cache/index.js'
import { Idempotency } from '../guards/idempotency/index.js'
import { idempotencyOptions, type RecordNaming } from '../guards/idempotency/options.js'
import { Locks } from '../guards/lock/index.js'
import { DEFAULT_LOCKS } from '../guards/lock/options.js'
import { RateLimits } from '../guards/rate-limit/index.js'
import { DEFAULT_LIMITS } from '../guards/rate-limit/options.js'
import { TokenDenylist } from '../guards/token-denylist/index.js'
import { DEFAULT_TOKENS } from '../guards/token-denylist/types.js'
import { openCodes } from './open-codes.js'
import type { OpenOptions } from './open-options.js'
import type { Offered } from './open-ports.js'

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
  maxSeries: number
  idempotencyNaming: RecordNaming
  codeEngine: Engine
}

/** The guards that need nothing but their ports and options. Without its port, a guard is absent. */
export function plainGuards(ports: Offered<EnginePorts>, options: OpenOptions, given: Surroundings) {
  const { clock, report, maxSeries, idempotencyNaming: naming } = given
  const around = { clock, report }
  const { keys, limits, idempotency, codes, tokens, locks, cache } = ports
  return {
    keys: keys && new ApiKeys(keys, clock),
    limits:
      limits &&
      new RateLimits({
        ...{ ...around, maxSeries, engine: limits },
        ...(clock === systemClock && { steadyClock }),
        options: { ...DEFAULT_LIMITS, ...options.limits },
      }),
    idempotency:
      idempotency &&
      new Idempotency({
        ...{ ...around, store: idempotency, timing: timingOf(clock) },
        options: idempotencyOptions({ ...options.idempotency, naming }),
      }),
    codes:
      codes &&
      limits &&
      openCodes(options.codes ?? {}, given.codeEngine, {
        ...{ ...around, store: codes, counters: limits.counters },
      }),
    tokens:
      tokens &&
      new TokenDenylist({ ...around, store: tokens, options: { ...DEFAULT_TOKENS, ...options.tokens } }),
    locks:
      locks &&
      new Locks({
        ...around,
        store: locks,
        timing: timingOf(clock),
        options: { ...DEFAULT_LOCKS, ...options.locks },
      }),
    cache: cache && new Caches({ ...options.cache, ...around, store: cache }),
  }
}
