import { type Catraca, type OpenOptions, openCatraca } from '../../src/app/open-catraca.js'

/**
 * For whatever must merely end. On a busy machine a process, or a thread of it, may get no processor for seconds: who waits
 * this long has failed.
 */
export const PATIENCE_MS = 60_000

export const PATIENT_REDIS = { connectTimeoutMs: PATIENCE_MS, commandTimeoutMs: PATIENCE_MS } as const

export const PATIENT_DYNAMODB = {
  connectTimeoutMs: PATIENCE_MS,
  requestTimeoutMs: PATIENCE_MS,
  readTimeoutMs: PATIENCE_MS,
  writeTimeoutMs: PATIENCE_MS,
  batchTimeoutMs: 2 * PATIENCE_MS,
} as const

const PATIENT = {
  embedded: { writeTimeoutMs: PATIENCE_MS },
  redis: PATIENT_REDIS,
  dynamodb: PATIENT_DYNAMODB,
  limits: { timeoutMs: PATIENCE_MS },
  idempotency: { timeoutMs: PATIENCE_MS },
  codes: { timeoutMs: PATIENCE_MS },
  tokens: { timeoutMs: PATIENCE_MS },
  locks: { timeoutMs: PATIENCE_MS },
  cache: { timeoutMs: PATIENCE_MS },
} satisfies OpenOptions

/** Adds that patience to options, where they say nothing else. */
export function patient(options: OpenOptions): OpenOptions {
  const given: Record<string, unknown> = { ...options }
  const times = Object.entries(PATIENT).map(([part, ms]) => [part, { ...ms, ...(given[part] as object) }])
  return { ...options, ...(Object.fromEntries(times) as OpenOptions) }
}

/** Opens for tests that are not about times: how long the product waits for its engines is tested elsewhere. */
export const openPatiently = (options: OpenOptions): Promise<Catraca> => openCatraca(patient(options))
