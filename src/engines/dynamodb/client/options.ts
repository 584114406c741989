import type { Random } from './deadline.js'
import type { ServerClock } from './server-clock.js'

/** Credentials of AWS. */
interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  /** When they expire: the function that gave them is asked again before. */
  readonly expiration?: Date
}

/** Credentials, or a function that gets them, such as the providers of the AWS SDK. */
export type AwsCredentialSource = AwsCredentials | (() => Promise<AwsCredentials>)

export interface ConnectionOptions {
  region: string
  endpoint?: string
  /** If absent, the SDK finds them: environment, files, role of the container or machine. */
  credentials?: AwsCredentialSource
  /** Time to connect. */
  connectTimeoutMs: number
  /** Time for the response of one attempt. */
  requestTimeoutMs: number
  /** Attempts that the SDK makes. */
  maxAttempts: number
  maxSockets: number
  /** Receives the time of every response. */
  serverClock?: ServerClock
  /** Called for every attempt that failed on the way. */
  onConnectionFailure?: () => void
}

export interface DynamoOptions extends Partial<Omit<ConnectionOptions, 'region'>> {
  region: string
  /** For a read, including all attempts. */
  readTimeoutMs?: number
  /** For a write or a transaction, including all attempts. */
  writeTimeoutMs?: number
  /** For a batch of writes, including the resending of unprocessed items. */
  batchTimeoutMs?: number
  counter?: CapacityCounter
  random?: Random
}

/** Consumed capacity of one call. */
export interface CapacityUse {
  /** Purpose of the call in product terms, such as `allowlist.check`. */
  verb: string
  /** The operation of DynamoDB, such as `GetItem`. */
  operation: string
  table: string
  readUnits: number
  writeUnits: number
}

/** Receives the cost of calls. Metrics and the cost benchmark provide their own, or read a `CapacityCounts`. */
export interface CapacityCounter {
  used(use: CapacityUse): void
  /** A write that its condition refused: DynamoDB charges for it without reporting how much. */
  refused(verb: string, operation: string): void
  /** Additional attempts of a call, for any reason. */
  retried(verb: string, operation: string, times: number): void
}
