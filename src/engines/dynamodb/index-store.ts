import { gunzipSync, gzipSync } from 'node:zlib'
import type { IndexStore, KeyBlock, Manifest } from '../../allowlist/membership/port.js'
import type { ListRef } from '../../changes/port.js'
import { bytes, type Item, number, numberOf, optionalBytes, text, textOf } from './attributes.js'
import type { DueTask } from './due.js'
import { all, Expression } from './expression.js'
import { IndexPages } from './index-pages.js'
import { buildKey, manifestKey, metaKey } from './items.js'
import { keyBlocks } from './key-blocks.js'
import { ListUses } from './list-uses.js'
import { type StoredList, sameList } from './meta.js'
import type { Store } from './store.js'
import type { TransactionItem } from './transactions.js'
import type { TaskResult } from './upkeep.js'

const VERB = 'allowlist.index'
/** Of a build whose process may die. */
export const BUILD = 'BUILD'
/** How old the version may be that followers compare with theirs; checks of a busy list bring it along for nothing. */
const VERSION_AGE_MS = 2000

interface Claim {
  owner: string
  until: number
  incarnation: number
}

export class DynamodbIndexStore implements IndexStore {
  readonly #pages: IndexPages
  readonly #uses: ListUses

  constructor(private readonly store: Store) {
    this.#pages = new IndexPages(store)
    this.#uses = new ListUses(store)
  }

  async manifest(list: ListRef): Promise<Manifest | undefined> {
    const item = await this.#get(manifestKey(list.id))
    const packed = item && optionalBytes(item, 'buffer')
    if (packed === undefined) return undefined
    const manifest = JSON.parse(gunzipSync(packed).toString()) as Manifest
    // One of an earlier format, or of another list of this id, counts as none.
    return manifest.format === 2 && manifest.incarnation === list.incarnation ? manifest : undefined
  }

  async version(list: ListRef): Promise<string | undefined> {
    const stored = await this.store.catalog.recent(list.id, VERSION_AGE_MS)
    return stored?.incarnation === list.incarnation ? stored.indexVersion : undefined
  }

  page(list: ListRef, name: string): Promise<Uint8Array | undefined> {
    return this.#pages.read(list, name)
  }

  async claim(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean> {
    const stored = await this.#stored(list)
    if (stored === undefined) return false
    const expression = new Expression()
    const until = now + leaseMs
    const isFree = [
      expression.absent('PK'),
      `${expression.name('until')} <= ${expression.value(number(now))}`,
      `${expression.name('incarnation')} <> ${expression.value(number(list.incarnation))}`,
    ].join(' OR ')
    const claim = {
      ...buildKey(list.id),
      owner: text(owner),
      until: number(until),
      incarnation: number(list.incarnation),
    }
    const { applied } = await this.store.client.transactWrite(VERB, [
      this.#isThere(stored),
      { Put: { ...this.#table, Item: claim, ConditionExpression: isFree, ...expression.parts() } },
      this.store.due.put({ kind: BUILD, at: until, parts: [list.id] }),
    ])
    // What a builder that died has written must not be taken for this one's.
    if (applied) await this.#pages.drop(list, await this.#unnamed(list))
    return applied
  }

  async renew(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean> {
    const stored = await this.#stored(list)
    if (stored === undefined) return false
    const expression = new Expression()
    const until = `${expression.name('until')} = ${expression.value(number(now + leaseMs))}`
    const { applied } = await this.store.client.transactWrite(VERB, [
      this.#isThere(stored),
      {
        Update: {
          ...this.#table,
          Key: buildKey(list.id),
          UpdateExpression: `SET ${until}`,
          ConditionExpression: isBuilder(expression, list, owner),
          ...expression.parts(),
        },
      },
    ])
    return applied
  }

  async builder(list: ListRef, now: number): Promise<string | undefined> {
    const claim = await this.#claim(list)
    return claim !== undefined && claim.until > now ? claim.owner : undefined
  }

  async putPage(list: ListRef, owner: string, name: string, page: Uint8Array): Promise<boolean> {
    if (!(await this.#isBuilder(list, owner))) return false
    await this.#pages.write(list, owner, name, page)
    if (await this.#isBuilder(list, owner)) return true
    // Taken over meanwhile, by somebody who may have cleared up before this page came.
    await this.#pages.drop(list, [name])
    return false
  }

  async publish(list: ListRef, owner: string, manifest: Manifest): Promise<boolean> {
    const stored = await this.#stored(list)
    const pages = await this.#pages.names(list)
    if (stored === undefined || !manifest.pages.every(({ name }) => pages.has(name))) return false
    const expression = new Expression()
    const { applied } = await this.store.client.transactWrite(VERB, [
      this.#setVersion(stored, manifest.version),
      { Put: { ...this.#table, Item: encodeManifest(list, manifest) } },
      {
        Delete: {
          ...this.#table,
          Key: buildKey(list.id),
          ConditionExpression: isBuilder(expression, list, owner),
          ...expression.parts(),
        },
      },
    ])
    if (!applied) return false
    await this.store.catalog.read(list.id)
    for (const { name } of manifest.pages) pages.delete(name)
    await this.#pages.drop(list, pages.keys())
    return true
  }

  async abandon(list: ListRef, owner: string): Promise<void> {
    const claim = await this.#claim(list)
    if (claim?.owner === owner) await this.#end(list, claim)
  }

  /** A build whose process died leaves pages that no manifest names. */
  async endDead({ parts: [listId = ''] }: DueTask, now: number): Promise<TaskResult> {
    const item = await this.#get(buildKey(listId))
    if (item === undefined) return 'done'
    const claim = readClaim(item)
    if (claim.until > now) return { again: claim.until }
    await this.#end({ id: listId, incarnation: claim.incarnation }, claim)
    return 'done'
  }

  /** What the builder has written is noted before the claim ends: what comes later is somebody else's. */
  async #end(list: ListRef, { owner, until }: Claim): Promise<void> {
    const litter = await this.#unnamed(list, owner)
    const expression = new Expression()
    const { applied } = await this.store.client.deleteItem(VERB, {
      ...this.#table,
      Key: buildKey(list.id),
      ConditionExpression: all(isBuilder(expression, list, owner), expression.equals('until', number(until))),
      ...expression.parts(),
    })
    if (applied) await this.#pages.drop(list, litter)
  }

  /** Pages that the manifest does not name, of one owner or of all. */
  async #unnamed(list: ListRef, owner?: string): Promise<string[]> {
    const pages = await this.#pages.names(list)
    if (pages.size === 0) return []
    for (const { name } of (await this.manifest(list))?.pages ?? []) pages.delete(name)
    return [...pages].filter(([, by]) => owner === undefined || by === owner).map(([name]) => name)
  }

  async *scan(list: ListRef): AsyncGenerator<KeyBlock> {
    yield* keyBlocks(this.store, list)
  }

  countUses(uses: ReadonlyMap<string, number>): Promise<void> {
    return this.#uses.add(uses)
  }

  mostUsed(limit: number): Promise<string[]> {
    return this.#uses.most(limit)
  }

  get #table(): { TableName: string } {
    return { TableName: this.store.tables.allowlists }
  }

  #get(Key: Item): Promise<Item | undefined> {
    return this.store.client.getItem(VERB, { ...this.#table, Key, ConsistentRead: true })
  }

  async #stored(list: ListRef): Promise<StoredList | undefined> {
    const stored = await this.store.catalog.recent(list.id)
    return stored?.incarnation === list.incarnation ? stored : undefined
  }

  async #claim(list: ListRef): Promise<Claim | undefined> {
    const item = await this.#get(buildKey(list.id))
    const claim = item && readClaim(item)
    return claim?.incarnation === list.incarnation ? claim : undefined
  }

  async #isBuilder(list: ListRef, owner: string): Promise<boolean> {
    const [stored, claim] = await Promise.all([this.store.catalog.read(list.id), this.#claim(list)])
    return stored?.incarnation === list.incarnation && claim?.owner === owner
  }

  #isThere(list: StoredList): TransactionItem {
    const expression = new Expression()
    const ConditionExpression = sameList(expression, list)
    return {
      ConditionCheck: { ...this.#table, Key: metaKey(list.id), ConditionExpression, ...expression.parts() },
    }
  }

  #setVersion(list: StoredList, version: string): TransactionItem {
    const expression = new Expression()
    const set = `${expression.name('indexVersion')} = ${expression.value(text(version))}`
    const ConditionExpression = sameList(expression, list)
    return {
      Update: {
        ...this.#table,
        Key: metaKey(list.id),
        UpdateExpression: `SET ${set}`,
        ConditionExpression,
        ...expression.parts(),
      },
    }
  }
}

/** With the attributes of the source's filter items, so that whoever looks at the table understands it. */
function encodeManifest(list: ListRef, manifest: Manifest): Item {
  const buffer = gzipSync(JSON.stringify(manifest))
  return {
    ...manifestKey(list.id),
    buffer: bytes(buffer),
    compressed: { BOOL: true },
    version: text(manifest.version),
    itemCount: number(manifest.customers),
    sizeBytes: number(manifest.sizeBytes),
    createdAt: text(new Date(manifest.builtAt).toISOString()),
  }
}

const readClaim = (item: Item): Claim => ({
  owner: textOf(item, 'owner'),
  until: numberOf(item, 'until'),
  incarnation: numberOf(item, 'incarnation'),
})

const isBuilder = (expression: Expression, { incarnation }: ListRef, owner: string): string =>
  all(expression.equals('owner', text(owner)), expression.equals('incarnation', number(incarnation)))
