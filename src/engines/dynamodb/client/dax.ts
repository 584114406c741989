import type {
  BatchGetItemCommandInput,
  BatchGetItemCommandOutput,
  GetItemCommandInput,
  GetItemCommandOutput,
  QueryCommandInput,
  QueryCommandOutput,
} from '@aws-sdk/client-dynamodb'
import { CatracaError } from '../../../errors.js'
import { later } from '../../../timers.js'
import type { Item } from './attributes.js'
import { type BatchGetInput, MAX_BATCH_KEYS, projectionOf } from './batches.js'
import type { CallOptions, GetInput, ItemReader, Page, QueryInput } from './client.js'
import type { ConnectionOptions } from './connection.js'

/** What is used of the client of DAX. It has no way to stop a call, so calls are left behind when time is up. */
interface Dax {
  getItem(input: GetItemCommandInput): Promise<GetItemCommandOutput>
  batchGetItem(input: BatchGetItemCommandInput): Promise<BatchGetItemCommandOutput>
  query(input: QueryCommandInput): Promise<QueryCommandOutput>
  shutdown(): void
}

export interface DaxOptions extends Pick<ConnectionOptions, 'region' | 'credentials'> {
  /** The discovery endpoint of the cluster: `dax://…` or `daxs://…`. */
  daxEndpoint: string
  /** After so long the question goes to DynamoDB. */
  timeoutMs?: number
  /** Told of questions that DAX did not answer. */
  onMiss?: (error: unknown) => void
}

const DEFAULT_TIMEOUT_MS = 500
// A variable, because the package is optional: the compiler must not insist on its types.
const PACKAGE: string = '@amazon-dax-sdk/client-dax'

/** Reads through DAX in front of `behind`. Loads the package, which only those who use DAX have to have. */
export async function openDax(
  options: DaxOptions,
  behind: ItemReader,
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<DaxReader> {
  // The package drops all listeners of warnings of the process when it is loaded.
  const listeners = process.listeners('warning')
  let loaded: { Dax: new (config: object) => Dax }
  try {
    loaded = (await load(PACKAGE)) as typeof loaded
  } catch (cause) {
    const message = `dynamodb.daxEndpoint is set, but the package ${PACKAGE} cannot be loaded: install it`
    throw new CatracaError('STORE_UNUSABLE', message, { cause })
  } finally {
    const left = new Set(process.listeners('warning'))
    for (const listener of listeners) if (!left.has(listener)) process.on('warning', listener)
  }
  const { region, credentials, daxEndpoint, timeoutMs = DEFAULT_TIMEOUT_MS, onMiss = () => {} } = options
  const dax = new loaded.Dax({
    endpoint: daxEndpoint,
    region,
    requestTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    // No waiting for a cluster to recover: DynamoDB answers meanwhile.
    maxRetries: 0,
    maxRetryDelay: timeoutMs,
    ...(credentials !== undefined && { credentials }),
  })
  return new DaxReader(dax, behind, timeoutMs, onMiss)
}

/** Eventually consistent reads from DAX; consistent ones, and those that it does not answer, from `behind`. */
export class DaxReader implements ItemReader {
  constructor(
    private readonly dax: Dax,
    private readonly behind: ItemReader,
    private readonly timeoutMs: number,
    private readonly onMiss: (error: unknown) => void,
  ) {}

  getItem(verb: string, input: GetInput, options?: CallOptions): Promise<Item | undefined> {
    const otherwise = () => this.behind.getItem(verb, input, options)
    if (input.ConsistentRead) return otherwise()
    return this.#try(async () => (await this.dax.getItem(input)).Item, otherwise)
  }

  query(verb: string, input: QueryInput, options?: CallOptions): Promise<Page> {
    const otherwise = () => this.behind.query(verb, input, options)
    if (input.ConsistentRead) return otherwise()
    return this.#try(async () => {
      const { Items: items = [], LastEvaluatedKey: next } = await this.dax.query(input)
      return next === undefined ? { items } : { items, next }
    }, otherwise)
  }

  async batchGetItem(verb: string, input: BatchGetInput, options?: CallOptions): Promise<Item[]> {
    if (input.consistent) return this.behind.batchGetItem(verb, input, options)
    const { table, keys, attributes } = input
    const found: Item[] = []
    for (let at = 0; at < keys.length; at += MAX_BATCH_KEYS) {
      const chunk = keys.slice(at, at + MAX_BATCH_KEYS)
      const request = { [table]: { Keys: chunk, ...projectionOf(attributes) } }
      const answer = await this.#try<Pick<BatchGetItemCommandOutput, 'Responses' | 'UnprocessedKeys'>>(
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

  async #try<T>(ask: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = later(() => reject(new Error('DAX did not answer in time')), this.timeoutMs)
    })
    try {
      return await Promise.race([ask(), tooLate])
    } catch (error) {
      this.onMiss(error)
      return otherwise()
    } finally {
      clearTimeout(timer)
    }
  }
}
