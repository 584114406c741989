import type {
  BatchGetItemCommandInput,
  BatchGetItemCommandOutput,
  GetItemCommandInput,
  GetItemCommandOutput,
  QueryCommandInput,
  QueryCommandOutput,
} from '@aws-sdk/client-dynamodb'
import { chunksOf } from '../../../core/chunks.js'
import { packageMissing } from '../../../core/packages.js'
import { later } from '../../../core/timers.js'
import type { Item } from './attributes.js'
import { type BatchGetInput, MAX_BATCH_KEYS, projectionOf } from './batches.js'
import type { CallOptions, GetInput, ItemReader, Page, QueryInput } from './client.js'
import { silenceDaxClient } from './dax-console.js'
import type { DaxState } from './dax-state.js'
import type { ConnectionOptions } from './options.js'

/** The used part of the DAX client. It cannot cancel a call, so a call that times out is abandoned. */
interface Dax {
  getItem(input: GetItemCommandInput): Promise<GetItemCommandOutput>
  batchGetItem(input: BatchGetItemCommandInput): Promise<BatchGetItemCommandOutput>
  query(input: QueryCommandInput): Promise<QueryCommandOutput>
  shutdown(): void
}

interface DaxOptions extends Pick<ConnectionOptions, 'region' | 'credentials'> {
  /** The discovery endpoint of the cluster: `dax://…` or `daxs://…`. */
  daxEndpoint: string
  /** After this time DynamoDB is read instead. */
  timeoutMs?: number
  /** Called when DAX stops answering, and when it answers again. */
  report?: (message: string, error: unknown) => void
  /** A monotonic clock in milliseconds. */
  time?: () => number
}

const DEFAULT_TIMEOUT_MS = 500
/** While DAX does not answer, one read per interval tries it, so that the others do not wait. */
const RETRY_MS = 1000
/** An unstable cluster is reported no more often than this. */
const REPORT_EVERY_MS = 60_000
// A variable, because the package is optional and the compiler must not require its types.
const PACKAGE: string = '@amazon-dax-sdk/client-dax'

/** Reads through DAX in front of `behind`. Loads the package, which is needed only with DAX. */
export async function openDax(
  options: DaxOptions,
  behind: ItemReader,
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<DaxReader> {
  // The package removes all `warning` listeners of the process when it is loaded.
  const listeners = process.listeners('warning')
  let loaded: { Dax: new (config: object) => Dax }
  try {
    loaded = (await load(PACKAGE)) as typeof loaded
  } catch (cause) {
    throw packageMissing(PACKAGE, 'dynamodb.daxEndpoint', cause)
  } finally {
    const left = new Set(process.listeners('warning'))
    for (const listener of listeners) if (!left.has(listener)) process.on('warning', listener)
  }
  const { region, credentials, daxEndpoint, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const { report = () => {}, time = () => performance.now() } = options
  silenceDaxClient()
  const dax = new loaded.Dax({
    endpoint: daxEndpoint,
    region,
    requestTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    // Does not wait for a cluster to recover: DynamoDB answers meanwhile.
    maxRetries: 0,
    maxRetryDelay: timeoutMs,
    ...(credentials !== undefined && { credentials }),
  })
  return new DaxReader(dax, behind, { timeoutMs, report, time })
}

type ReaderParts = Required<Pick<DaxOptions, 'timeoutMs' | 'report' | 'time'>>

/** Eventually consistent reads from DAX. Consistent reads, and those that DAX does not answer, go to `behind`. */
export class DaxReader implements ItemReader {
  private missedReads = 0
  /** Why the last read failed. */
  private failure: unknown
  private isDown = false
  private tryAgainAt = 0
  private reportedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly dax: Dax,
    private readonly behind: ItemReader,
    private readonly parts: ReaderParts,
  ) {}

  get state(): DaxState {
    const missedReads = this.missedReads
    if (!this.isDown) return { status: 'healthy', missedReads }
    const error = this.failure instanceof Error ? this.failure.message : String(this.failure)
    return { status: 'unhealthy', missedReads, error }
  }

  /** Checks DAX with a read: without traffic, a failure would not be noticed. */
  async look(input: GetInput): Promise<DaxState> {
    if (this.isDue()) await this.ask(() => this.dax.getItem(input)).catch(() => {})
    return this.state
  }

  getItem(verb: string, input: GetInput, options?: CallOptions): Promise<Item | undefined> {
    const otherwise = () => this.behind.getItem(verb, input, options)
    if (input.ConsistentRead) return otherwise()
    return this.try(async () => (await this.dax.getItem(input)).Item, otherwise)
  }

  query(verb: string, input: QueryInput, options?: CallOptions): Promise<Page> {
    const otherwise = () => this.behind.query(verb, input, options)
    if (input.ConsistentRead) return otherwise()
    return this.try(async () => {
      const { Items: items = [], LastEvaluatedKey: next } = await this.dax.query(input)
      return next === undefined ? { items } : { items, next }
    }, otherwise)
  }

  async batchGetItem(verb: string, input: BatchGetInput, options?: CallOptions): Promise<Item[]> {
    if (input.consistent) return this.behind.batchGetItem(verb, input, options)
    const { table, keys, attributes } = input
    const found: Item[] = []
    for (const chunk of chunksOf(keys, MAX_BATCH_KEYS)) {
      const request = { [table]: { Keys: chunk, ...projectionOf(attributes) } }
      const answer = await this.try<Pick<BatchGetItemCommandOutput, 'Responses' | 'UnprocessedKeys'>>(
        () => this.dax.batchGetItem({ RequestItems: request }),
        () => Promise.resolve({ UnprocessedKeys: request }),
      )
      found.push(...(answer.Responses?.[table] ?? []))
      const left = answer.UnprocessedKeys?.[table]?.Keys ?? []
      if (left.length > 0) {
        found.push(...(await this.behind.batchGetItem(verb, { ...input, keys: left }, options)))
      }
    }
    return found
  }

  close(): void {
    this.dax.shutdown()
  }

  private async try<T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    if (this.isDue()) {
      try {
        return await this.ask(ask)
      } catch {
        // DynamoDB is read instead.
      }
    }
    this.missedReads++
    return otherwise()
  }

  private isDue(): boolean {
    if (!this.isDown) return true
    const now = this.parts.time()
    if (now < this.tryAgainAt) return false
    this.tryAgainAt = now + RETRY_MS
    return true
  }

  private async ask<T>(ask: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = later(() => reject(new Error('DAX did not answer in time')), this.parts.timeoutMs)
    })
    try {
      const answer = await Promise.race([ask(), tooLate])
      if (this.isDown) this.answersAgain()
      return answer
    } catch (error) {
      this.fails(error)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  private fails(error: unknown): void {
    this.failure = error
    const { time, report } = this.parts
    if (this.isDown) return
    this.isDown = true
    this.tryAgainAt = time() + RETRY_MS
    if (time() - this.reportedAt < REPORT_EVERY_MS) return
    this.reportedAt = time()
    report('DAX does not answer: reads go to DynamoDB', error)
  }

  private answersAgain(): void {
    this.isDown = false
    this.parts.report('DAX answers again', undefined)
  }
}
