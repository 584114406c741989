import { randomBytes } from 'node:crypto'
import { type Item, optionalText, text, textOf } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { giantKey, META, readListId, registryKey, STORE_KEY } from './items.js'
import { isIdentifier } from './member-reads.js'
import { GIANT_STORAGE, type StoredList } from './meta.js'

const VERB = 'allowlist.adopt'
/** Pages of 1 MB that are looked at when a table is opened for the first time: two thousand units at most. */
const FIRST_LOOK_PAGES = 16
const MAX_REMEMBERED = 10_000
const LIST_TYPES = new Set(['FIXA', 'ONDA'])

export interface AdoptionProgress {
  /** Items of the table that were looked at. */
  scanned: number
  /** Lists that were found, whoever made them. */
  lists: number
}

export interface StoreIdentity {
  /** Tells this store from every other, so that a token of another one is noticed. */
  id: string
  /** Whether the table was looked through for lists of other programs: as far as the first look goes, or to its end. */
  adoption?: 'partial' | 'complete'
}

/**
 * Lists that other programs made are not in the registry, by which lists are paged. They are entered there when they
 * are first used, when the stream tells of them, and by looking through the whole table: a little at the first start,
 * all of it by command, because it is read, and paid, whole.
 */
export class Adoption {
  readonly #noticed = new Set<string>()

  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
  ) {}

  /** Of a list that another program made; nobody waits for it. */
  noticed(list: StoredList): void {
    if (this.#noticed.has(list.id)) return
    if (this.#noticed.size >= MAX_REMEMBERED) this.#noticed.clear()
    this.#noticed.add(list.id)
    this.enter(list.id, list.giant).catch(() => this.#noticed.delete(list.id))
  }

  async enter(listId: string, giant: boolean): Promise<void> {
    for (const Item of giant ? [registryKey(listId), giantKey(listId)] : [registryKey(listId)]) {
      await this.client.putItem(VERB, { TableName: this.table, Item })
    }
  }

  /** Looks through the table for lists; false when it stopped before the end. */
  async look(
    maxPages: number,
    onProgress: (progress: AdoptionProgress) => void = () => {},
  ): Promise<boolean> {
    const progress: AdoptionProgress = { scanned: 0, lists: 0 }
    let start: Item | undefined
    for (let pages = 0; pages < maxPages; pages++) {
      const { items, next, scanned } = await this.client.scan(VERB, {
        TableName: this.table,
        ProjectionExpression: 'PK, #storage, #type',
        FilterExpression: 'SK = :meta',
        ExpressionAttributeNames: { '#storage': 'storage', '#type': 'type' },
        ExpressionAttributeValues: { ':meta': text(META) },
        ...(start !== undefined && { ExclusiveStartKey: start }),
      })
      for (const item of items) {
        const listId = readListId(item.PK!.S!)
        const isList = LIST_TYPES.has(item.type?.S ?? '')
        if (listId === undefined || !isIdentifier(listId) || !isList) continue
        await this.enter(listId, optionalText(item, 'storage') === GIANT_STORAGE)
        progress.lists++
      }
      progress.scanned += scanned
      onProgress({ ...progress })
      start = next
      if (start === undefined) return true
    }
    return false
  }

  /** The identity of the store, made when nobody has opened it before. */
  async open(): Promise<StoreIdentity> {
    const identity = (await this.#read()) ?? (await this.#create())
    if (identity.adoption !== undefined) return identity
    const adoption = (await this.look(FIRST_LOOK_PAGES)) ? 'complete' : 'partial'
    await this.note(adoption)
    return { ...identity, adoption }
  }

  async note(adoption: 'partial' | 'complete'): Promise<void> {
    await this.client.updateItem(
      VERB,
      {
        TableName: this.table,
        Key: STORE_KEY,
        UpdateExpression: 'SET adoption = :adoption',
        ExpressionAttributeValues: { ':adoption': text(adoption) },
      },
      { repeatable: true },
    )
  }

  async #read(): Promise<StoreIdentity | undefined> {
    const item = await this.client.getItem(VERB, {
      TableName: this.table,
      Key: STORE_KEY,
      ConsistentRead: true,
    })
    return item && readIdentity(item)
  }

  async #create(): Promise<StoreIdentity> {
    const Item = { ...STORE_KEY, id: text(randomBytes(8).toString('hex')) }
    const result = await this.client.putItem(VERB, {
      TableName: this.table,
      Item,
      ConditionExpression: 'attribute_not_exists(PK)',
    })
    return readIdentity(result.applied ? Item : result.item!)
  }
}

function readIdentity(item: Item): StoreIdentity {
  const adoption = optionalText(item, 'adoption') as StoreIdentity['adoption']
  return { id: textOf(item, 'id'), ...(adoption !== undefined && { adoption }) }
}
