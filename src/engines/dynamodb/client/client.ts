import type {
  DeleteItemCommandInput,
  GetItemCommandInput,
  PutItemCommandInput,
  QueryCommandInput,
  ScanCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { DEFAULT_DYNAMODB } from '../defaults.js'
import type { Item } from './attributes.js'
import { type BatchGetInput, type BatchWrite, batchGet, batchWrite } from './batches.js'
import { type Answer, type Call, Calls, type SendOptions, type WriteResult } from './calls.js'
import { uncounted } from './capacity.js'
import { connect } from './connection.js'
import { type Insertion, insertByStatements, NoStatements } from './inserts.js'
import type { DynamoOptions } from './options.js'
import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from './sdk.js'
import { type TransactionItem, type TransactionResult, transactWrite } from './transactions.js'

export interface CallOptions {
  /** Overrides the timeout of this kind of call. */
  timeoutMs?: number
}

/** Options without a default. */
type Absent = 'endpoint' | 'credentials' | 'serverClock' | 'onConnectionFailure'
type Asked<T> = Omit<T, 'ReturnConsumedCapacity' | 'ReturnItemCollectionMetrics'>
type AskedWrite<T> = Omit<Asked<T>, 'ReturnValuesOnConditionCheckFailure'>
export type GetInput = Asked<GetItemCommandInput>
export type QueryInput = Asked<QueryCommandInput>
type ScanInput = Asked<ScanCommandInput>
export type PutInput = AskedWrite<PutItemCommandInput>
type DeleteInput = AskedWrite<DeleteItemCommandInput>
export type UpdateInput = AskedWrite<UpdateItemCommandInput>

export interface Page {
  items: Item[]
  /** Where the next page begins; absent at the end. */
  next?: Item
}

export interface ScanPage extends Page {
  /** Items that were read, before the filter. */
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

/** DynamoDB as the engine uses it. `verb` is the purpose of a call in product terms; capacity is counted by it. */
export class DynamoClient implements ItemReader {
  /** For reads and single writes: one throttled partition must not slow down the calls for others. */
  private readonly client: DynamoDBClient
  /** For bulk writes, which should slow down as a whole. They have separate connections too. */
  private readonly bulk: DynamoDBClient
  private readonly options: Required<Omit<DynamoOptions, Absent>> & Pick<DynamoOptions, Absent>
  private readonly calls: Calls
  /** DynamoDB supports PartiQL batches. An emulator may not; then items are put one by one. */
  private hasStatements = true

  constructor(options: DynamoOptions) {
    this.options = { ...DEFAULT_DYNAMODB, counter: uncounted, random: Math.random, ...options }
    this.client = connect(this.options, 'standard')
    this.bulk = connect(this.options, 'adaptive')
    this.calls = new Calls(this.options.counter, this.options.random)
  }

  /** For the administration of tables, which handles its own errors. */
  get sdk(): DynamoDBClient {
    return this.client
  }

  async getItem(verb: string, input: GetInput, options?: CallOptions): Promise<Item | undefined> {
    const command = new GetItemCommand({ ...input, ...COUNTED })
    return (await this.read(verb, 'GetItem', options, (signal) => this.client.send(command, signal))).Item
  }

  readItem(verb: string, TableName: string, Key: Item, options?: CallOptions): Promise<Item | undefined> {
    return this.getItem(verb, { TableName, Key, ConsistentRead: true }, options)
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

  /** All pages of a query. Each is requested when the previous one was consumed. */
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

  async queryAll(verb: string, input: QueryInput, options?: CallOptions): Promise<Item[]> {
    const found: Item[] = []
    for await (const items of this.queryPages(verb, input, options)) found.push(...items)
    return found
  }

  /** Any number of items of one table, in no order. Missing items are left out. Keys must be unique. */
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

  /** `repeatable`: doing it twice has the same effect as once, which is not true for `ADD n :1`. */
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

  /** All or nothing, and executed once however often it is sent. */
  transactWrite(verb: string, items: TransactionItem[], options?: CallOptions): Promise<TransactionResult> {
    const call = this.writeCall(verb, 'TransactWriteItems', options)
    return transactWrite(this.client, this.calls, call, items)
  }

  /** Any number of puts and deletes, without conditions, in no order. Keys must be unique. */
  batchWrite(verb: string, writes: BatchWrite[], options?: CallOptions): Promise<void> {
    const timeoutMs = options?.timeoutMs ?? this.options.batchTimeoutMs
    return batchWrite(this.bulk, this.calls, { verb, operation: 'BatchWriteItem', timeoutMs }, writes)
  }

  /**
   * Puts each item if there is none with its key, in no order, and returns the result of each. At most some hundreds;
   * keys must be unique. All have the same attribute names, made of letters and digits.
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
        return await insertByStatements({ client: this.bulk, calls: this.calls, call, table }, items)
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
