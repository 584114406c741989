const MIB = 1024 * 1024

/** Also the defaults of the settings. This file loads nothing, so that the configuration can read it. */
export const DEFAULT_REDIS = {
  connectTimeoutMs: 5000,
  commandTimeoutMs: 3000,
  poolSize: 1,
  maxBatch: { items: 256, bytes: MIB },
  maxInFlight: 50_000,
  maxWaiting: 10_000,
  maxLogBytes: 16 * MIB,
  staleAfterMs: 3000,
  shardAbove: 5_000_000,
  initialShards: 1,
  idempotencyNaming: 'operation',
  confirmFrom: 'primary',
} as const
