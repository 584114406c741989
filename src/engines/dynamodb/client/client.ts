import {
  DeleteItemCommand,
  type DeleteItemCommandInput,
  type DynamoDBClient,
  GetItemCommand,
  type GetItemCommandInput,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  type ScanCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import type { Item } from './attributes.js'
import { type BatchGetInput, type BatchWrite, batchGet, batchWrite } from './batches.js'
import { type Answer, type Call, Calls, type SendOptions, type WriteResult } from './calls.js'
import { type CapacityCounter, uncounted } from './capacity.js'
import { type ConnectionOptions, connect } from './connection.js'
import type { Random } from './deadline.js'
import { type Insertion, insertByStatements, NoStatements } from './inserts.js'
import { type TransactionItem, type TransactionResult, transactWrite } from './transactions.js'

export interface DynamoOptions extends Partial<Omit<ConnectionOptions, 'region'>> {
  region: string
  /** For a read with all its attempts. */
  readTimeoutMs?: number
  /** For a write, or a transaction, with all its attempts. */
  writeTimeoutMs?: number
  /** For a batch of writes, with the resubmission of what was left. */
  batchTimeoutMs?: number
  counter?: CapacityCounter
  random?: Random
}

export const DEFAULT_DYNAMODB = {
  connectTimeoutMs: 1000,
  requestTimeoutMs: 2000,
  maxAttempts: 8,
  maxSockets: 128,
  readTimeoutMs: 5000,
  writeTimeoutMs: 10_000,
  batchTimeoutMs: 60_000,
} as const

export interface CallOptions {
  /** Other than the time set for all calls of this kind. */
  timeoutMs?: number
}

/** What has no default. */
type Absent = 'endpoint' | 'credentials' | 'serverClock' | 'onConnectionFailure'
type Asked<T> = Omit<T, 'ReturnConsumedCapacity' | 'ReturnItemCollectionMetrics'>
type AskedWrite<T> = Omit<Asked<T>, 'ReturnValuesOnConditionCheckFailure'>
export type GetInput = Asked<GetItemCommandInput>
export type QueryInput = Asked<QueryCommandInput>
export type ScanInput = Asked<ScanCommandInput>
export type PutInput = AskedWrite<PutItemCommandInput>
export type DeleteInput = AskedWrite<DeleteItemCommandInput>
export type UpdateInput = AskedWrite<UpdateItemCommandInput>

export interface Page {
  items: Item[]
  /** Where the next page begins; absent at the end. */
  next?: Item
}

export interface ScanPage extends Page {
  /** Items that were looked at, whatever the filter left of them. */
  scanned: number
}

/** The reads that DynamoDB and DAX have in common. */
export interface ItemReader {
  getItem(verb: string, input: GetInput, options?: CallOptions): Promise<Item | undefined>
  batchGetItem(verb: string, input: BatchGetInput, options?: CallOptions): Promise<Item[]>
  query(verb: string, input: QueryInput, options?: CallOptions): Promise<Page>
}

const COUNTED = { ReturnConsumedCapacity: 'TOTAL' } as const
const TELLING = { ...COUNTED, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const

/** DynamoDB as the engine uses it. `verb` says what a call is for, in the words of the product: it is counted by it. */
export class DynamoClient implements ItemReader {
  /** Reads and single writes: one throttled partition must not slow down the calls for all others. */
  private readonly client: DynamoDBClient
  /** Bulk writes, which do well to slow down as a whole; their connections are their own too. */
  private readonly bulk: DynamoDBClient
  private readonly options: Required<Omit<DynamoOptions, Absent>> & Pick<DynamoOptions, Absent>
  private readonly calls: Calls
  /** DynamoDB has them; an emulator may not, and then items are put one by one. */
  private hasStatements = true

  constructor(options: DynamoOptions) {
    this.options = { ...DEFAULT_DYNAMODB, counter: uncounted, random: Math.random, ...options }
    this.client = connect(this.options, 'standard')
    this.bulk = connect(this.options, 'adaptive')
    this.calls = new Calls(this.options.counter, this.options.random)
  }

  /** For the administration of tables, which has answers of its own. */
  get sdk(): DynamoDBClient {
    return this.client
  }

  async getItem(verb: string, input: GetInput, options?: CallOptions): Promise<Item | undefined> {
    const command = new GetItemCommand({ ...input, ...COUNTED })
    return (await this.read(verb, 'GetItem', options, (signal) => this.client.send(command, signal))).Item
  }

  async query(verb: string, input: QueryInput, options?: CallOptions): Promise<Page> {
    const command = new QueryCommand({ ...input, ...COUNTED })
    return pageOf(await this.read(verb, 'Query', options, (signal) => this.client.send(command, signal)))
  }

  async scan(verb: string, input: ScanInput, options?: CallOptions): Promise<ScanPage> {
    const command = new ScanCommand({ ...input, ...COUNTED })
    const answer = await this.read(verb, 'Scan', options, (signal) => this.client.send(command, signal))
    return { ...pageOf(answer), scanned: answer.ScannedCount ?? 0 }
  }

  /** All pages of a query, each asked for when the one before it was taken. */
  async *queryPages(verb: string, input: QueryInput, options?: CallOptions): AsyncGenerator<Item[]> {
    let start = input.ExclusiveStartKey
    do {
      const page = await this.query(
        verb,
        start === undefined ? input : { ...input, ExclusiveStartKey: start },
        options,
      )
      yield page.items
      start = page.next
    } while (start !== undefined)
  }

  /** Any number of items of one table, in no order; those that do not exist are left out. No key twice. */
  batchGetItem(verb: string, input: BatchGetInput, options?: CallOptions): Promise<Item[]> {
    return batchGet(this.client, this.calls, this.readCall(verb, 'BatchGetItem', options), input)
  }

  putItem(verb: string, input: PutInput, options?: CallOptions): Promise<WriteResult> {
    const command = new PutItemCommand({ ...input, ...TELLING })
    const call = this.writeCall(verb, 'PutItem', options)
    return this.calls.writeItem(call, command.input, true, (signal) => this.client.send(command, signal))
  }

  deleteItem(verb: string, input: DeleteInput, options?: CallOptions): Promise<WriteResult> {
    const command = new DeleteItemCommand({ ...input, ...TELLING })
    const call = this.writeCall(verb, 'DeleteItem', options)
    return this.calls.writeItem(call, command.input, true, (signal) => this.client.send(command, signal))
  }

  /** `repeatable`: that done twice it leaves the same as done once, which `ADD n :1` does not. */
  updateItem(
    verb: string,
    input: UpdateInput,
    { repeatable, ...options }: CallOptions & { repeatable: boolean },
  ): Promise<WriteResult> {
    const command = new UpdateItemCommand({ ...input, ...TELLING })
    const call = this.writeCall(verb, 'UpdateItem', options)
    return this.calls.writeItem(call, command.input, repeatable, (signal) =>
      this.client.send(command, signal),
    )
  }

  /** All or nothing; done once, however often it has to be sent. */
  transactWrite(verb: string, items: TransactionItem[], options?: CallOptions): Promise<TransactionResult> {
    const call = this.writeCall(verb, 'TransactWriteItems', options)
    return transactWrite(this.client, this.calls, call, items)
  }

  /** Any number of puts and deletes, without conditions, in no order; no two for one key. */
  batchWrite(verb: string, writes: BatchWrite[], options?: CallOptions): Promise<void> {
    const timeoutMs = options?.timeoutMs ?? this.options.batchTimeoutMs
    return batchWrite(this.bulk, this.calls, { verb, operation: 'BatchWriteItem', timeoutMs }, writes)
  }

  /**
   * Puts each item where none is yet, in no order, and tells of each. At most some hundreds; no two for one key.
   * All have the same attribute names as DynamoDB sees it: letters and digits.
   */
  async insertItems(
    verb: string,
    table: string,
    items: readonly Item[],
    options?: CallOptions,
  ): Promise<Insertion[]> {
    const timeoutMs = options?.timeoutMs ?? this.options.batchTimeoutMs
    if (this.hasStatements) {
      const call = { verb, operation: 'BatchExecuteStatement', timeoutMs }
      try {
        return await insertByStatements(this.bulk, this.calls, call, table, items)
      } catch (error) {
        if (!((error as Error).cause instanceof NoStatements)) throw error
        this.hasStatements = false
      }
    }
    const put = async (item: Item): Promise<Insertion> => {
      const input = { TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(PK)' }
      const result = await this.putItem(verb, input, { timeoutMs })
      return { inserted: result.applied, maybeOwn: !result.applied && result.maybeOwn }
    }
    return Promise.all(items.map(put))
  }

  close(): void {
    this.calls.close()
    this.client.destroy()
    this.bulk.destroy()
  }

  private read<T extends Answer>(
    verb: string,
    operation: string,
    options: CallOptions | undefined,
    send: (options: SendOptions) => Promise<T>,
  ): Promise<T> {
    const call = this.readCall(verb, operation, options)
    return this.calls.read(call, async ({ signal }) => {
      const answer = await send({ abortSignal: signal })
      this.calls.count(call, 'read', answer)
      return answer
    })
  }

  private readCall(verb: string, operation: string, options: CallOptions | undefined): Call {
    return { verb, operation, timeoutMs: options?.timeoutMs ?? this.options.readTimeoutMs }
  }

  private writeCall(verb: string, operation: string, options: CallOptions | undefined): Call {
    return { verb, operation, timeoutMs: options?.timeoutMs ?? this.options.writeTimeoutMs }
  }
}

function pageOf(answer: { Items?: Item[] | undefined; LastEvaluatedKey?: Item | undefined }): Page {
  const { Items: items = [], LastEvaluatedKey: next } = answer
  return next === undefined ? { items } : { items, next }
}
