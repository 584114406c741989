import type { SizeStep } from './allowlist/shard-sizes.js'
import type { AwsCredentialSource, CapacityCounter, DynamoOptions } from './client/options.js'
import type { LimitSplit } from './defaults.js'

/**
 * Whether to read a record before it is claimed. A claim that finds a record is refused, and charged by the size of
 * that record in write units. Reading it costs a fortieth of that, but then each claim of a new key costs the read
 * too. `auto`: reads first where refused claims of an operation have lately cost more than the reads would have.
 */
export type ReadFirst = 'auto' | 'always' | 'never'

/**
 * Whose clock decides: the caller's corrected by DynamoDB's or, for test suites and vectors, the caller's unchanged.
 */
export type LimitClock = 'corrected' | 'caller'

/** Options of the clients for SNS and SQS. */
export interface QueueClientOptions {
  region?: string
  endpoint?: string
  credentials?: AwsCredentialSource
}

export interface StoreSettings {
  /** A cached list that is used and older than this is read again in the background. */
  revalidateAfterMs: number
  /** A cached list that is older than this must be read again before it answers. */
  staleAfterMs: number
  maxCachedLists: number
  /** A write that keeps conflicting with others fails after this time. */
  writeTimeoutMs: number
  /** A replace that changes more customers than this is told as a reset, not one by one. */
  maxDifferences: number
}

export interface OpenStoreOptions
  extends Omit<DynamoOptions, 'region' | 'endpoint' | 'counter' | 'serverClock' | 'onConnectionFailure'>,
    Partial<StoreSettings> {
  /** `dax://…` or `daxs://…`: ordinary confirmations are read through it. */
  daxEndpoint?: string
  /** Receives all capacity, in addition to the engine's own counts. */
  counter?: CapacityCounter
  /** False if the same process has checked them already. */
  checkTables?: boolean
  /** The clock of this process. */
  now?: () => number
  /** Reports a failure that no caller waits for. */
  report?: (message: string, error: unknown) => void
}

export interface DynamodbOptions extends OpenStoreOptions {
  /**
   * The topic to which the relay, or the Lambda, publishes. This pod creates its own queue and sees changes at once.
   */
  topicArn?: string
  /** Options of the queue clients, where they differ from those of the tables. */
  queues?: QueueClientOptions
  /**
   * How often, over all pods, a probe measures how far the logs are behind. 0: never; the logs are assumed to be
   * complete.
   */
  probeIntervalMs?: number
  /**
   * How often one process reads lists and their logs for all others, which then read only what it found. 0: every
   * process reads for itself.
   */
  shareIntervalMs?: number
  /** From how many customers on a list is moved to more shards, or to the table for giants. */
  sizes?: readonly SizeStep[]
  /** Whether idempotency records are read before they are claimed. Default: `auto`. */
  idempotencyReadFirst?: ReadFirst
  /** Limits that are split over several items. Must be the same in all processes. */
  splitLimits?: readonly LimitSplit[]
  /**
   * Whose clock decides on limits: the caller's corrected by DynamoDB's or, for test suites and vectors, the caller's
   * unchanged.
   */
  limitClock?: LimitClock
  now?: () => number
  /** The clock that measures how long a lock was not renewed. */
  monotonicMs?: () => number
}
