import assert from 'node:assert/strict'
import { compareKeys, readCustomerKey } from '../../../src/guards/allowlist/customer-key.js'
import type {
  BatchOutcome,
  BeginOutcome,
  BulkStore,
  ImportCheckpoint,
  ImportRecord,
  ImportRequest,
  ImportSession,
  MemberAttributes,
  ReplaceOutcome,
  SortedCustomers,
} from '../../../src/guards/allowlist/port.js'

type Hook = (number: number) => void | Promise<void>

const nothing = (): void => {}

/** Customers as the engine is given them, after checking that they are sorted and each once. */
export function unpack(
  customers: SortedCustomers,
  from = 0,
  to = customers.count,
): [string, MemberAttributes][] {
  const { bytes } = customers
  const found: [string, MemberAttributes][] = []
  for (let i = from; i < to; i++) {
    const start = customers.start(i)
    const end = customers.end(i)
    if (i > 0) {
      const order = compareKeys(bytes, customers.start(i - 1), customers.end(i - 1), bytes, start, end)
      assert.ok(order < 0, 'customers must ascend')
    }
    found.push([readCustomerKey(bytes, start, end), customers.attributes(i) ?? {}])
  }
  return found
}

/** The bulk store of a real engine, which can be made to fail at a given step, and looks at what it is given. */
export class FaultyBulk implements BulkStore {
  batches = 0
  renewals = 0
  replaceBlocks: number[] = []
  /** How imports said that they ended, whether or not they were believed. */
  endings: string[] = []
  /** What these throw is the engine's failure: before anything is stored, or when all of it is. */
  beforeBatch: Hook = nothing
  afterBatch: Hook = nothing
  beforeBlock: Hook = nothing
  beforeReplace: () => void | Promise<void> = nothing
  afterReplace: () => void | Promise<void> = nothing
  /** The engine does not answer to anything that keeps or ends an import. */
  isDown = false

  constructor(private readonly engine: BulkStore) {}

  /** From here on it is just the engine. */
  heal(): void {
    this.beforeBatch = this.afterBatch = this.beforeBlock = nothing
    this.beforeReplace = this.afterReplace = nothing
    this.isDown = false
    this.batches = 0
  }

  begin(request: ImportRequest, now: number): Promise<BeginOutcome> {
    return this.engine.begin(request, now)
  }

  async add(
    session: ImportSession,
    run: SortedCustomers,
    from: number,
    to: number,
    advance: (added: number, unchanged: number) => ImportCheckpoint,
    now: number,
  ): Promise<BatchOutcome> {
    const batch = ++this.batches
    await this.beforeBatch(batch)
    unpack(run, from, to)
    const outcome = await this.engine.add(session, run, from, to, advance, now)
    await this.afterBatch(batch)
    return outcome
  }

  async renew(
    session: ImportSession,
    checkpoint: ImportCheckpoint | undefined,
    now: number,
  ): Promise<boolean> {
    this.renewals++
    if (this.isDown) throw new Error('down')
    return this.engine.renew(session, checkpoint, now)
  }

  async replace(
    session: ImportSession,
    runs: AsyncIterable<SortedCustomers>,
    advance: Parameters<BulkStore['replace']>[2],
    now: () => number,
  ): Promise<ReplaceOutcome> {
    await this.beforeReplace()
    const outcome = await this.engine.replace(session, this.watched(runs), advance, now)
    await this.afterReplace()
    return outcome
  }

  private async *watched(runs: AsyncIterable<SortedCustomers>): AsyncGenerator<SortedCustomers> {
    let last = new Uint8Array(0)
    for await (const run of runs) {
      unpack(run)
      const order = compareKeys(last, 0, last.length, run.bytes, run.start(0), run.end(0))
      assert.ok(order < 0, 'blocks must ascend')
      last = run.bytes.slice(run.start(run.count - 1), run.end(run.count - 1))
      this.replaceBlocks.push(run.count)
      await this.beforeBlock(this.replaceBlocks.length)
      yield run
    }
  }

  async finish(
    session: ImportSession,
    checkpoint: ImportCheckpoint,
    state: Exclude<ImportRecord['state'], 'running'>,
    error: string | undefined,
    now: number,
  ): Promise<{ customerCount: number; token: string } | undefined> {
    if (this.isDown) throw new Error('down')
    this.endings.push(state)
    return this.engine.finish(session, checkpoint, state, error, now)
  }

  list(...args: Parameters<BulkStore['list']>): Promise<ImportRecord[]> {
    return this.engine.list(...args)
  }

  status(listId: string, importId: string, now: number): Promise<ImportRecord | undefined> {
    return this.engine.status(listId, importId, now)
  }
}
