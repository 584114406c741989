const MIB = 1024 * 1024

/** Also the defaults of the settings. This file loads nothing, so that the configuration can read it. */
export const DEFAULT_EMBEDDED = {
  durability: 'disk',
  limitsDurability: 'process',
  minFreeBytes: 64 * MIB,
  writeTimeoutMs: 10_000,
  maxLogBytes: 16 * MIB,
  cacheMaxBytes: 1024 * MIB,
} as const
