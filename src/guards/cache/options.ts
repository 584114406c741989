import { invalid } from '../../core/errors.js'
import { type Fields, KnownFields } from '../../core/fields.js'
import { identifier } from '../../core/identifiers.js'
import type { IsJson } from '../../core/json-form.js'
import type { BreakerOptions } from './breaker.js'
import type { Codec } from './codec.js'
import type { EntryOptions, LeaseOptions } from './types.js'

const KIB = 1024
const MIB = 1024 * KIB
const DAY_MS = 86_400_000

export interface FirstTierOptions {
  maxEntries: number
  /** Sum of the encoded sizes of the values, before gzip. */
  maxBytes: number
  /** Read from the second tier again after this time. Default: as long as the entry is fresh. */
  ttlMs?: number
}

/** Options of a space. All but name and TTL have a default. */
export interface SpaceOptions<T = unknown> {
  /** Keys in the store begin with this name and `:`. */
  name: string
  ttlMs: number
  /** How long after its TTL the last value is still served when the load fails, is slow, or runs elsewhere. */
  staleMs?: number
  /** How long to cache that the source has no value. 0: not cached. */
  negativeTtlMs?: number
  /** Maximum share of the TTL by which it is randomly shortened. */
  jitter?: number
  /** Early refresh: above 1 refreshes sooner, below 1 later, 0 never. */
  beta?: number
  /** `false`: no first tier. */
  l1?: Partial<FirstTierOptions> | false
  codec?: Codec<T>
  gzipAboveBytes?: number
  maxValueBytes?: number
  /** Texts that another program may have stored without JSON quotes. */
  words?: readonly string[]
  /** Tags added to every entry. */
  tags?: (value: T, key: string) => readonly string[]
  /** The second tier counts as down when a call takes longer. */
  timeoutMs?: number
  /** After this time a caller gets the stale value, if there is one, while the load continues. */
  softLoadTimeoutMs?: number
  /** After this time the load has failed. */
  hardLoadTimeoutMs?: number
  /** Duration of the lease that a fill holds across pods. It is renewed while the load runs. */
  leaseMs?: number
  breaker?: Partial<BreakerOptions>
  /**
   * What to do while the store does not answer and invalidations cannot be received. `source` (default): load from
   * the source; if that fails, answer from the first tier, marked stale. `first-tier`: answer from the first tier
   * until its TTLs expire.
   */
  onUnavailable?: OnUnavailable
}

/** JSON, the codec of a space without one, would change values of some types, such as dates. */
export type NeededCodec<T> = IsJson<T> extends true ? unknown : { codec: Codec<T> }

const SPACE_FIELDS: Fields<SpaceOptions> = {
  ...{ name: true, ttlMs: true, staleMs: true, negativeTtlMs: true, jitter: true, beta: true },
  l1: { maxEntries: true, maxBytes: true, ttlMs: true },
  ...{ codec: true, gzipAboveBytes: true, maxValueBytes: true, tags: true, timeoutMs: true },
  ...{ softLoadTimeoutMs: true, hardLoadTimeoutMs: true, leaseMs: true, words: true, onUnavailable: true },
  breaker: { failures: true, pauseMs: true },
}
const KNOWN_OF_SPACE = new KnownFields(SPACE_FIELDS)

export const ON_UNAVAILABLE = ['source', 'first-tier'] as const
export type OnUnavailable = (typeof ON_UNAVAILABLE)[number]

export interface SpaceSettings<T>
  extends Required<Omit<SpaceOptions<T>, 'l1' | 'codec' | 'tags' | 'breaker'>> {
  l1: FirstTierOptions | false
  codec: Codec<T> | undefined
  tags: ((value: T, key: string) => readonly string[]) | undefined
  breaker: BreakerOptions
}

export const DEFAULT_SPACE = {
  ...{ staleMs: 0, negativeTtlMs: 0, jitter: 0.1, beta: 1 },
  ...{ gzipAboveBytes: 10 * KIB, maxValueBytes: 8 * MIB },
  ...{ timeoutMs: 1000, softLoadTimeoutMs: 200, hardLoadTimeoutMs: 10_000, leaseMs: 2000 },
} as const
const DEFAULT_FIRST_TIER = { maxEntries: 10_000, maxBytes: 64 * MIB } as const
const DEFAULT_BREAKER: BreakerOptions = { failures: 5, pauseMs: 1000 }

/** Minimum and maximum of each number. */
const BOUNDS: Record<string, readonly [number, number]> = {
  ttlMs: [1, 366 * DAY_MS],
  staleMs: [0, 366 * DAY_MS],
  negativeTtlMs: [0, 366 * DAY_MS],
  jitter: [0, 0.5],
  beta: [0, 100],
  gzipAboveBytes: [0, 1024 * MIB],
  maxValueBytes: [1, 64 * MIB],
  timeoutMs: [1, 60_000],
  softLoadTimeoutMs: [0, DAY_MS],
  hardLoadTimeoutMs: [1, DAY_MS],
  leaseMs: [100, DAY_MS],
}
const FIRST_TIER_BOUNDS: Record<string, readonly [number, number]> = {
  maxEntries: [1, 100_000_000],
  maxBytes: [1, 1024 * 1024 * MIB],
  ttlMs: [1, 366 * DAY_MS],
}
const BREAKER_BOUNDS: Record<string, readonly [number, number]> = {
  failures: [1, 1_000_000],
  pauseMs: [1, DAY_MS],
}
const LEASE_WAIT = [0, 30_000] as const
/** Prefixes of keys of other guards on any engine: a cache may share its store with them. */
const RESERVED_NAMES = new Set(
  'allowlist allowlists audit customer-allowlists bridge cache catraca jwt lock otp ratelimit token'.split(
    ' ',
  ),
)
const FRACTIONS = ['jitter', 'beta']

/** Validates the options of a space and adds the defaults. */
export function spaceSettings<T>(options: SpaceOptions<T>): SpaceSettings<T> {
  KNOWN_OF_SPACE.check(options)
  const {
    name,
    l1 = {},
    codec,
    tags,
    breaker = {},
    onUnavailable = 'source',
    words = [],
    ...numbers
  } = options
  checkNumbers('', numbers, BOUNDS)
  if (numbers.ttlMs === undefined) throw invalid('ttlMs', 'must be given')
  if (l1 !== false) checkNumbers('l1.', l1, FIRST_TIER_BOUNDS)
  checkNumbers('breaker.', breaker, BREAKER_BOUNDS)
  if (!ON_UNAVAILABLE.includes(onUnavailable))
    throw invalid('onUnavailable', `must be one of ${ON_UNAVAILABLE.join(', ')}`)
  if (!Array.isArray(words) || words.some((word) => typeof word !== 'string'))
    throw invalid('words', 'must be a list of texts')
  if (RESERVED_NAMES.has(String(name).split(':')[0]!)) throw invalid('name', 'begins with a reserved name')
  return {
    ...DEFAULT_SPACE,
    ...defined(numbers),
    ttlMs: numbers.ttlMs,
    name: identifier('name', name),
    l1: l1 === false ? false : { ...DEFAULT_FIRST_TIER, ...defined(l1) },
    codec,
    tags,
    onUnavailable,
    words,
    breaker: { ...DEFAULT_BREAKER, ...defined(breaker) },
  }
}

/** Parses options that come as JSON. Options that only code can give (`codec`, `tags`) are refused. */
export function parseSpaceOptions(value: unknown): SpaceOptions {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('space', 'must be an object with name and ttlMs')
  }
  const { codec, tags, ...plain } = value as SpaceOptions & Record<string, unknown>
  if (codec !== undefined || tags !== undefined)
    throw invalid('space', 'accepts codec and tags only from code')
  if (plain.l1 !== undefined && plain.l1 !== false && (typeof plain.l1 !== 'object' || plain.l1 === null)) {
    throw invalid('l1', 'must be an object, or false')
  }
  if (plain.breaker !== undefined && (typeof plain.breaker !== 'object' || plain.breaker === null)) {
    throw invalid('breaker', 'must be an object')
  }
  spaceSettings(plain)
  return plain
}

function checkNumber(
  path: string,
  value: unknown,
  [min, max]: readonly [number, number],
  isWhole = true,
): void {
  const fits =
    typeof value === 'number' && value >= min && value <= max && (!isWhole || Number.isInteger(value))
  if (!fits) throw invalid(path, `must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`)
}

/** Validates a TTL computed from a loaded value. */
export function loadedTtl(ttlMs: number): number {
  const isTold = typeof ttlMs === 'number' && ttlMs <= BOUNDS.ttlMs![1]
  if (!isTold) throw invalid('ttlMs', `of a value must be a number of at most ${BOUNDS.ttlMs![1]}`)
  return Math.max(0, Math.floor(ttlMs))
}

export function checkLease({ ttlMs, waitMs }: LeaseOptions): void {
  if (ttlMs !== undefined) checkNumber('ttlMs', ttlMs, BOUNDS.leaseMs!)
  if (waitMs !== undefined) checkNumber('waitMs', waitMs, LEASE_WAIT)
}

/** The options of an entry. */
export const ENTRY_FIELDS: Fields<EntryOptions<never>> = { ttlMs: true, tags: true }
const KNOWN_OF_ENTRY = new KnownFields(ENTRY_FIELDS)

export function checkEntry<T>(options: EntryOptions<T>): void {
  KNOWN_OF_ENTRY.check(options)
  const { ttlMs, tags = [] } = options
  if (ttlMs !== undefined && typeof ttlMs !== 'function') checkNumber('ttlMs', ttlMs, BOUNDS.ttlMs!)
  for (const tag of tags) identifier('tags', tag)
}

function checkNumbers(
  prefix: string,
  given: object,
  bounds: Record<string, readonly [number, number]>,
): void {
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) checkNumber(`${prefix}${name}`, value, bounds[name]!, !FRACTIONS.includes(name))
  }
}

const defined = <O extends object>(options: O): { [K in keyof O]: Exclude<O[K], undefined> } =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never
