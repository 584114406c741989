import type { Check, Diagnosis } from '../core/diagnosis.js'
import type { Fields } from '../core/fields.js'
import type { RecordNaming } from '../guards/idempotency/options.js'
import type { FullEngine } from './engine.js'

/** What a store is used for. A store for caches only may rightly be configured to evict entries. */
export type StoreUse = 'guards' | 'caches'

/** What an instance tells the engines that it opens. */
export interface OpenedFor {
  use?: StoreUse
  /** Receives failures that no caller waits for. */
  report?: (message: string, error: unknown) => void
  /** A list's record may be as far behind as its image in memory. */
  staleAfterMs?: number
  /** How often lists in memory are compared with the store. */
  compareIntervalMs?: number
  idempotencyNaming?: RecordNaming
}

/** What `catraca doctor` tells an engine about its use. */
export interface DiagnosedFor {
  use: StoreUse
  hasAllowlists: boolean
  cacheSpaces: readonly string[]
}

/** What the URL of a store says about it. */
export interface StoreFacts {
  /** The URL for display: without passwords, in normalised form. */
  shown: string
  hasPassword?: boolean
  /** Other processes cannot open it. */
  isPrivate?: boolean
  /** It is reached over a network, which may fail. */
  isRemote?: boolean
  /** Its first use starts threads instead of connecting: it takes milliseconds, and memory from then on. */
  startsThreads?: boolean
  /** It generates secrets that are missing, and keeps them. */
  keepsSecrets?: boolean
}

/** An engine in the registry. It loads the packages of the engine only when a store is opened or diagnosed. */
export interface EngineEntry<Url extends { engine: string }, Options extends object> {
  /** How URLs are spelled, for messages and pages. */
  readonly forms: readonly string[]
  /** For each scheme, what parses the rest of the URL. */
  readonly schemes: Readonly<Record<string, (rest: string) => Url>>
  facts(url: Url): StoreFacts
  /** The URL with everything resolved that depends on the process, such as relative directories. */
  resolve?(url: Url): Url
  /** All options, so that unknown ones can be refused. */
  readonly fields: Fields<Options>
  open(url: Url, options: Options, instance: OpenedFor): Promise<FullEngine>
  /** Diagnoses a store for an operator. `where`: the store as it may be shown. Never throws, never hangs. */
  diagnose(url: Url, options: Options, use: DiagnosedFor, where: string): Promise<Diagnosis>
  /** All checks that `diagnose` makes, for the page that lists them. */
  checks(): Promise<readonly Check<never>[]>
}
