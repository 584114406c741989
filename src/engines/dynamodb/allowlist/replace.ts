import { MAX_CUSTOMER_KEY_LENGTH, writeCustomerKey } from '../../../guards/allowlist/customer-key.js'
import { ImportStopped } from '../../../guards/allowlist/import/stored-import.js'
import type {
  ImportCheckpoint,
  ImportSession,
  ReplaceCounts,
  ReplaceOutcome,
  SortedCustomers,
} from '../../../guards/allowlist/port.js'
import { shardOf } from '../../../guards/allowlist/shard.js'
import { inTurns } from '../client/in-turns.js'
import type { BulkParts } from './bulk-add.js'
import { type ImportedCustomer, importedCustomers } from './bulk-rows.js'
import { encodeDifferences, MAX_DIFFERENCE_BYTES } from './differences.js'
import { ImportLease } from './import-lease.js'
import type { StoredImport } from './imports.js'
import type { StoredList } from './meta.js'
import { GENERATION, switchStep } from './replace-states.js'
import { isUuid, ShardWalk } from './replace-walk.js'
import { ReplaceWrites } from './replace-writes.js'
import { graceMs } from './store.js'

const VERB = 'allowlist.import'
/** Customers processed before the list is read again, to check that the replace may continue. */
const STEP = 2000
const SHARDS_AT_ONCE = 8

/** Builds the next generation of a list by walking its members and the new customers side by side. */
export class Replacement {
  private readonly counts: ReplaceCounts = { added: 0, unchanged: 0, removed: 0 }
  /** Difference to the count of the next generation that other writers maintain. */
  private difference = 0
  private readonly differences: Buffer[] = []
  private differenceBytes = 0
  private differing = 0
  private walks: ShardWalk[] = []
  private ofUuids = true

  constructor(
    private readonly parts: Pick<BulkParts, 'store' | 'records' | 'counts'>,
    private readonly session: ImportSession,
    private readonly advance: (counts: ReplaceCounts) => ImportCheckpoint,
    private readonly now: () => number,
  ) {}

  async run(runs: AsyncIterable<SortedCustomers>): Promise<ReplaceOutcome> {
    try {
      const list = await this.begun()
      this.walks = Array.from(
        { length: list.shardCount },
        (_, shard) => new ShardWalk(this.parts.store, list, shard),
      )
      for await (const run of runs) {
        for (let from = 0; from < run.count; from += STEP) {
          await this.take(importedCustomers(run, from, Math.min(from + STEP, run.count)))
        }
      }
      if (this.ofUuids) await this.turnToOthers()
      await this.dropRest()
      await this.switch()
      return { outcome: 'replaced', ...this.counts }
    } catch (error) {
      if (error instanceof ImportStopped) return { outcome: error.outcome }
      throw error
    }
  }

  /** Batches that were open when the replace began do not know of it: it waits for them. */
  private async begun(): Promise<StoredList> {
    await this.owned()
    await this.parts.counts.allClosed(this.session.listId, this.now)
    return (await this.owned()).list
  }

  private async owned(): Promise<{ list: StoredList; record: StoredImport }> {
    const owned = await this.parts.records.owned(this.session)
    if (typeof owned === 'string') throw new ImportStopped(owned)
    if (owned.list.replacing?.importId !== this.session.importId) throw new ImportStopped('lost')
    return owned
  }

  private async take(entrants: ImportedCustomer[]): Promise<void> {
    const others = this.ofUuids ? entrants.findIndex(({ customerId }) => !isUuid(customerId)) : 0
    const uuids = others === -1 ? entrants.length : others
    if (uuids > 0) await this.admit(entrants.slice(0, uuids))
    if (uuids === entrants.length) return
    if (this.ofUuids) await this.turnToOthers()
    await this.admit(entrants.slice(uuids))
  }

  private async turnToOthers(): Promise<void> {
    await this.dropRest()
    this.ofUuids = false
    for (const walk of this.walks) walk.turnToOthers()
  }

  /** Processes these customers, and the members between them. */
  private async admit(entrants: ImportedCustomer[]): Promise<void> {
    const writes = await this.writes()
    await inTurns(this.walks, SHARDS_AT_ONCE, async (walk) => {
      const mine = entrants.filter(({ customerId }) => shardOf(customerId, this.walks.length) === walk.shard)
      for (const { customerId, given } of mine) {
        for (;;) {
          const rows = await walk.upTo(customerId, STEP)
          const own = rows.at(-1)?.customerId === customerId ? rows.pop() : undefined
          for (const row of rows) await writes.push(row.item, { customerId: row.customerId, stays: false })
          if (rows.length === STEP) continue
          await writes.push(own?.item, { customerId, stays: true, given })
          break
        }
      }
    })
    this.add(await writes.end())
  }

  private async dropRest(): Promise<void> {
    for (const walk of this.walks) {
      for (;;) {
        const rows = await walk.upTo(undefined, STEP)
        if (rows.length === 0) break
        const writes = await this.writes()
        for (const { customerId, item } of rows) await writes.push(item, { customerId, stays: false })
        this.add(await writes.end())
      }
    }
  }

  private async writes(): Promise<ReplaceWrites> {
    const { list, record } = await this.owned()
    const renew = (now: number) => this.parts.records.renew(this.session, now)
    const lease = new ImportLease(this.session, this.now(), record.leaseUntil, renew)
    return new ReplaceWrites(this.parts.store, list, this.session, lease, this.now)
  }

  private add({ counts, difference, customers }: Awaited<ReturnType<ReplaceWrites['end']>>): void {
    for (const name of ['added', 'unchanged', 'removed'] as const) this.counts[name] += counts[name]
    this.difference += difference
    this.differing += customers.length
    for (const customerId of customers) {
      if (this.isTooMuchToTell) return
      const key = Buffer.alloc(1 + MAX_CUSTOMER_KEY_LENGTH)
      const end = writeCustomerKey(customerId, key, 1)
      key[0] = end - 2
      this.differences.push(key.subarray(0, end))
      this.differenceBytes += end
    }
  }

  private get isTooMuchToTell(): boolean {
    const { maxDifferences } = this.parts.store.settings
    return this.differing > maxDifferences || this.differenceBytes > MAX_DIFFERENCE_BYTES
  }

  private async switch(): Promise<void> {
    const { client, tables, due, catalog, settings } = this.parts.store
    for (;;) {
      const { list, record } = await this.owned()
      const { generation } = list.replacing!
      if (!this.isTooMuchToTell) {
        const Item = encodeDifferences(list.id, generation, list.generation, Buffer.concat(this.differences))
        await client.putItem(VERB, { TableName: tables.allowlists, Item })
      }
      const now = this.now()
      const checkpoint = this.advance(this.counts)
      // Recorded in the transaction of the switch: after a crash, the import must not look unfinished.
      const ended: StoredImport = { ...record, ...checkpoint, state: 'completed', updatedAt: now }
      const { applied } = await client.transactWrite(VERB, [
        switchStep(tables.allowlists, list, this.difference, now),
        this.parts.records.put(ended),
        due.put({ kind: GENERATION, at: now + graceMs(settings), parts: [list.id, String(generation)] }),
      ])
      catalog.forget(list.id)
      if (applied) return
    }
  }
}
