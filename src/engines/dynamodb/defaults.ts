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
  probeIntervalMs: 1000,
  idempotencyReadFirst: 'auto',
  tenShardsAbove: 20_000_000,
  fiftyShardsAbove: 50_000_000,
  giantAbove: 100_000_000,
} as const
