/** Also the defaults of the settings. This file loads nothing, so that the configuration can read it. */
export const DEFAULT_DYNAMODB = {
  connectTimeoutMs: 1000,
  requestTimeoutMs: 2000,
  maxAttempts: 8,
  maxSockets: 128,
  readTimeoutMs: 5000,
  writeTimeoutMs: 10_000,
  batchTimeoutMs: 60_000,
  revalidateAfterMs: 1000,
  staleAfterMs: 3000,
  maxCachedLists: 10_000,
  maxDifferences: 10_000,
  probeIntervalMs: 500,
  shareIntervalMs: 500,
  logBatchMs: 0,
  idempotencyReadFirst: 'auto',
  tenShardsAbove: 20_000_000,
  fiftyShardsAbove: 50_000_000,
  giantAbove: 100_000_000,
} as const

/** Named sets of defaults, between cost and delay: see docs/cost.md. `default` changes nothing. */
export const DYNAMODB_PROFILES = {
  thrifty: {
    dynamodb: {
      revalidateAfterMs: 20_000,
      staleAfterMs: 60_000,
      probeIntervalMs: 10_000,
      shareIntervalMs: 10_000,
      logBatchMs: 5000,
    },
    membership: { compareIntervalMs: 20_000, staleAfterMs: 60_000 },
  },
  default: { dynamodb: {}, membership: {} },
  fresh: {
    dynamodb: { revalidateAfterMs: 500, staleAfterMs: 2000, probeIntervalMs: 500, shareIntervalMs: 0 },
    membership: { compareIntervalMs: 500, staleAfterMs: 2000 },
  },
} as const

export type DynamodbProfile = keyof typeof DYNAMODB_PROFILES
export const DYNAMODB_PROFILE_NAMES = Object.keys(DYNAMODB_PROFILES) as DynamodbProfile[]

export const MAX_PARTS = 256

/** A limit that one item cannot carry: its subject is stored in this many parts. */
export interface LimitSplit {
  resource: string
  /** Absent: all entities of the resource. */
  entity?: string
  parts: number
}
