import { randomBytes } from 'node:crypto'
import {
  checkpointedRecord,
  claimedRecord,
  isLive,
  type LeasedImport,
  publicImport,
} from '../../../guards/allowlist/import/stored-import.js'
import type {
  ImportCheckpoint,
  ImportRecord,
  ImportRequest,
  ImportSession,
} from '../../../guards/allowlist/port.js'
import type { ImportMode, ImportState } from '../../../guards/allowlist/types.js'
import { type Item, number, numberOf, optionalText, text, textOf } from '../client/attributes.js'
import { all, Expression, when } from '../client/expression.js'
import { startingWith } from '../client/key-ranges.js'
import type { TransactionItem } from '../client/transactions.js'
import { IMPORT_PREFIX, importKey, listPartition, readListId } from './items.js'
import { ownedBy, type StoredList } from './meta.js'
import type { Store } from './store.js'

/** An import as stored in its item, with its lease. */
export interface StoredImport extends LeasedImport {
  incarnation: number
  /** Part of the name of its rows. Random, so that a later import of the same id has other names. */
  nonce: string
  /** Batches that were counted, but whose rows were not reported as added yet: the run that wrote them is repeated. */
  unpublished: string[]
}

const VERB = 'allowlist.import'
/** How long a record is stored after its last write. */
const KEPT_MS = 7 * 24 * 3600 * 1000

/** Records of imports, beside META. */
export class ImportRecords {
  constructor(private readonly store: Store) {}

  /** The record of this incarnation of the list. */
  async read(list: StoredList, importId: string): Promise<StoredImport | undefined> {
    const item = await this.store.client.readItem(VERB, this.table.TableName, importKey(list.id, importId))
    const record = item && decode(item)
    return record?.incarnation === list.incarnation ? record : undefined
  }

  /** The list and the record, if the session still owns the import and the list was not recreated. */
  async owned(
    session: ImportSession,
  ): Promise<{ list: StoredList; record: StoredImport } | 'lost' | 'list-not-found'> {
    const list = await this.store.catalog.read(session.listId)
    if (list === undefined || list.incarnation !== session.incarnation) return 'list-not-found'
    const record = await this.read(list, session.importId)
    return record?.owner === session.owner ? { list, record } : 'lost'
  }

  /** The records of this incarnation of the list, in the order of their ids. */
  async list(list: StoredList, limit: number): Promise<StoredImport[]> {
    const pages = this.store.client.queryPages(VERB, {
      ...this.table,
      ...startingWith(listPartition(list.id), IMPORT_PREFIX),
      Limit: limit,
    })
    for await (const items of pages) {
      return items.map(decode).filter(({ incarnation }) => incarnation === list.incarnation)
    }
    return []
  }

  /** Whether a worker holds its lease. */
  async isLive(list: StoredList, importId: string, now: number): Promise<boolean> {
    return isLive(await this.read(list, importId), now)
  }

  /** Replaces `before`, if it is unchanged since it was read. */
  claim(record: StoredImport, before: StoredImport | undefined): TransactionItem {
    const isAsRead = when((expression) =>
      before === undefined
        ? // A record of another list with this id counts as none.
          `${expression.absent('PK')} OR ${expression.name('incarnation')} <> ${expression.value(number(record.incarnation))}`
        : all(
            expression.equals('owner', text(before.owner)),
            expression.equals('leaseUntil', number(before.leaseUntil)),
            expression.equals('importState', text(before.state)),
          ),
    )
    return { Put: { ...this.table, Item: encode(record), ...isAsRead } }
  }

  /** Transaction item that stores the record, if its owner still owns it. */
  put(record: StoredImport): TransactionItem {
    return {
      Put: { ...this.table, Item: encode(record), ...when((expression) => ownedBy(expression, record)) },
    }
  }

  /** Transaction item that requires that the session owns the import. */
  check(session: ImportSession): TransactionItem {
    const Key = importKey(session.listId, session.importId)
    return { ConditionCheck: { ...this.table, Key, ...when((expression) => ownedBy(expression, session)) } }
  }

  /** False: the lease is lost. */
  async save(record: StoredImport): Promise<boolean> {
    const { Put } = this.put(record)
    const { applied } = await this.store.client.putItem(VERB, Put!)
    return applied
  }

  /** False: the lease is lost. */
  renew(session: ImportSession, now: number): Promise<boolean> {
    const leaseUntil = number(now + session.leaseMs)
    return this.set(session, { leaseUntil, updatedAt: number(now), expiresAt: expiryOf(now) })
  }

  /** False: the lease is lost. */
  recordUnpublished(session: ImportSession, unpublished: readonly string[]): Promise<boolean> {
    return this.set(session, { unpublished: { L: unpublished.map(text) } })
  }

  private async set(session: ImportSession, values: Item): Promise<boolean> {
    const expression = new Expression().set(values)
    expression.when(ownedBy(expression, session))
    const Key = importKey(session.listId, session.importId)
    const input = { ...this.table, Key, ...expression.update() }
    return (await this.store.client.updateItem(VERB, input, { repeatable: true })).applied
  }

  private get table(): { TableName: string } {
    return { TableName: this.store.tables.allowlists }
  }
}

export function newRecord(
  request: ImportRequest,
  incarnation: number,
  existing: StoredImport | undefined,
  now: number,
): StoredImport {
  return {
    ...claimedRecord(request, existing, now),
    incarnation,
    nonce: existing?.nonce ?? randomBytes(8).toString('hex'),
    unpublished: (request.mode !== 'replace' && existing?.unpublished) || [],
  }
}

export function checkpointed(
  record: StoredImport,
  checkpoint: ImportCheckpoint,
  session: ImportSession,
  now: number,
): StoredImport {
  const unpublished = checkpoint.run === undefined ? [] : record.unpublished
  return checkpointedRecord({ ...record, unpublished }, checkpoint, session, now)
}

/** Without what only this engine stores. */
export const leased = ({
  nonce: _,
  incarnation: __,
  unpublished: ___,
  ...record
}: StoredImport): LeasedImport => record

export const publicRecord = (stored: StoredImport, now: number): ImportRecord =>
  publicImport(leased(stored), now)

const expiryOf = (now: number): Item[string] => number(Math.ceil((now + KEPT_MS) / 1000))

function encode(record: StoredImport): Item {
  const { listId, importId, mode, state, startedAt, updatedAt, error, ...rest } = record
  const { incarnation, owner, leaseUntil, nonce, unpublished, ...checkpoint } = rest
  const item: Item = {
    ...importKey(listId, importId),
    mode: text(mode),
    importState: text(state),
    startedAt: number(startedAt),
    updatedAt: number(updatedAt),
    incarnation: number(incarnation),
    owner: text(owner),
    leaseUntil: number(leaseUntil),
    nonce: text(nonce),
    unpublished: { L: unpublished.map(text) },
    checkpoint: text(JSON.stringify(checkpoint)),
    expiresAt: expiryOf(updatedAt),
  }
  if (error !== undefined) item.error = text(error)
  return item
}

function decode(item: Item): StoredImport {
  const error = optionalText(item, 'error')
  return {
    ...(JSON.parse(textOf(item, 'checkpoint')) as ImportCheckpoint),
    listId: readListId(textOf(item, 'PK'))!,
    importId: textOf(item, 'SK').slice(IMPORT_PREFIX.length),
    mode: textOf(item, 'mode') as ImportMode,
    state: textOf(item, 'importState') as ImportState,
    startedAt: numberOf(item, 'startedAt'),
    updatedAt: numberOf(item, 'updatedAt'),
    incarnation: numberOf(item, 'incarnation'),
    owner: textOf(item, 'owner'),
    leaseUntil: numberOf(item, 'leaseUntil'),
    nonce: textOf(item, 'nonce'),
    unpublished: (item.unpublished?.L ?? []).map(({ S = '' }) => S),
    ...(error !== undefined && { error }),
  }
}
