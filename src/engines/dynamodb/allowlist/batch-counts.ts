import { setTimeout as sleep } from 'node:timers/promises'
import { CatracaError } from '../../../core/errors.js'
import { number, text } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import { between } from '../client/key-ranges.js'
import type { TransactionItem } from '../client/transactions.js'
import type { ImportRecords, StoredImport } from './imports.js'
import { allPlaces, customerSort, metaKey } from './items.js'
import { type StoredList, unchangedMeta, updatedAt } from './meta.js'
import { batchAttribute, encodeOpenBatch, type OpenBatch } from './open-batches.js'
import type { Store } from './store.js'

const VERB = 'allowlist.import'
const WAIT_MS = 50

/** Opens and counts the batches of imports (open-batches.ts). */
export class BatchCounts {
  constructor(
    private readonly store: Store,
    private readonly records: ImportRecords,
  ) {}

  /**
   * `opened`: whether META has the batch now. It does not if the list has changed since it was read. `list`: the
   * current list.
   */
  async open(list: StoredList, batch: OpenBatch): Promise<{ opened: boolean; list: StoredList | undefined }> {
    const attribute = batchAttribute(batch.nonce)
    const expression = new Expression().set({ [attribute]: encodeOpenBatch(batch) })
    expression.when(unchangedMeta(expression, list), expression.absent(attribute))
    const result = await this.store.client.updateItem(
      VERB,
      { ...this.meta(list), ReturnValues: 'ALL_NEW', ...expression.update() },
      { repeatable: true },
    )
    const known = this.store.catalog.learned(list.id, result.item)
    // A first attempt whose response was lost may have refused the second.
    const isOpen = known?.openBatches.some(({ name }) => name === batch.name) === true
    return { opened: isOpen, list: known }
  }

  /**
   * Counts a batch and closes it. `added`: the number of added rows, if its writer knows it. Without it, or if rows
   * were taken meanwhile, they are counted in the table. `further`: items of the same transaction.
   */
  async close(
    listId: string,
    name: string,
    added: number | undefined,
    now: number | undefined,
    further: TransactionItem[],
  ): Promise<'closed' | 'refused' | 'gone'> {
    const endsAt = performance.now() + 6 * this.store.settings.writeTimeoutMs
    let list = await this.store.catalog.read(listId)
    while (list !== undefined) {
      const open = list.openBatches.find((one) => one.name === name)
      // Another process has counted it.
      if (open === undefined) return 'refused'
      const isCertain = added !== undefined && open.taken === 0
      const count = isCertain ? added : (await this.stored(list, open)) + open.taken
      const result = await this.store.client.transactWrite(VERB, [
        this.closing(list, open, count, now),
        ...further,
      ])
      if (result.applied) return 'closed'
      if (result.refusals.some(({ index }) => index > 0)) return 'refused'
      list = this.store.catalog.learned(listId, result.refusals[0]!.item)
      if (performance.now() > endsAt) {
        throw new CatracaError('ENGINE_UNAVAILABLE', `other callers keep changing ${listId}; try again`)
      }
    }
    return 'gone'
  }

  /** For an import that is not running: counts its batch as far as it came. Returns the updated record. */
  async closeLeftOpen(list: StoredList, record: StoredImport): Promise<StoredImport> {
    const open = list.openBatches.find(({ nonce }) => nonce === record.nonce)
    if (open === undefined) return record
    const settled = { ...record, unpublished: [...record.unpublished, open.name] }
    await this.close(list.id, open.name, undefined, undefined, [this.records.put(settled)])
    return settled
  }

  /** Waits until no batch is open that does not know the current META. Undefined: the list was deleted. */
  async allClosed(listId: string, now: () => number): Promise<StoredList | undefined> {
    for (;;) {
      const list = await this.store.catalog.read(listId)
      if (list === undefined || list.openBatches.length === 0) return list
      for (const { importId, name } of list.openBatches) {
        const record = await this.records.read(list, importId)
        if (record?.state === 'running' && record.leaseUntil > now()) continue
        if (record !== undefined) await this.closeLeftOpen(list, record)
        else await this.close(listId, name, undefined, undefined, [])
      }
      await sleep(WAIT_MS)
    }
  }

  private closing(
    list: StoredList,
    { nonce, name, taken }: OpenBatch,
    count: number,
    now: number | undefined,
  ): TransactionItem {
    const attribute = batchAttribute(nonce)
    // The added rows have no generation window, so a replace that began meanwhile sees them too.
    const counts = { customerCount: count, pendingCount: list.replacing === undefined ? 0 : count }
    const expression = new Expression().add(counts).remove(attribute)
    if (now !== undefined) expression.set(updatedAt(now))
    expression.when(
      unchangedMeta(expression, list),
      expression.equals(`${attribute}.name`, text(name)),
      expression.equals(`${attribute}.taken`, number(taken)),
    )
    return { Update: { ...this.meta(list), ...expression.update() } }
  }

  private meta({ id }: StoredList) {
    return { TableName: this.store.tables.allowlists, Key: metaKey(id) }
  }

  private async stored(list: StoredList, { name, first, last }: OpenBatch): Promise<number> {
    let count = 0
    for (const { table, partition } of allPlaces(list.id, list)) {
      const range = between(partition, customerSort(first), customerSort(last))
      const pages = this.store.client.queryPages(VERB, {
        TableName: this.store.tables[table],
        ...range,
        FilterExpression: '#batch = :name',
        ProjectionExpression: 'SK',
        ExpressionAttributeNames: { '#batch': 'batch' },
        ExpressionAttributeValues: { ...range.ExpressionAttributeValues, ':name': text(name) },
      })
      for await (const page of pages) count += page.length
    }
    return count
  }
}
