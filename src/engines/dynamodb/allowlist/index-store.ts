import { gunzipSync, gzipSync } from 'node:zlib'
import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import type { IndexStore, KeyBlock, Manifest } from '../../../guards/allowlist/membership/port.js'
import { bytes, type Item, number, optionalBytes, text } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { BuildClaims, type Claim } from './build-claims.js'
import type { DueTask } from './due.js'
import { IndexPages } from './index-pages.js'
import { manifestKey, metaKey } from './items.js'
import { keyBlocks } from './key-blocks.js'
import { ListUses } from './list-uses.js'
import { type StoredList, sameList } from './meta.js'
import type { Store } from './store.js'
import type { TaskResult } from './upkeep.js'

const VERB = 'allowlist.index'

export class DynamodbIndexStore implements IndexStore {
  private readonly pages: IndexPages
  private readonly claims: BuildClaims
  private readonly uses: ListUses

  constructor(private readonly store: Store) {
    this.pages = new IndexPages(store)
    this.claims = new BuildClaims(store)
    this.uses = new ListUses(store)
  }

  async manifest(list: ListRef): Promise<Manifest | undefined> {
    const item = await this.store.client.readItem(VERB, this.table.TableName, manifestKey(list.id))
    const packed = item && optionalBytes(item, 'buffer')
    if (packed === undefined) return undefined
    const manifest = JSON.parse(gunzipSync(packed).toString()) as Manifest
    // A manifest of an earlier format, or of another list with this id, is ignored.
    return manifest.format === 2 && manifest.incarnation === list.incarnation ? manifest : undefined
  }

  async version(list: ListRef): Promise<string | undefined> {
    // Checks of a busy list refresh it at no cost.
    const stored = await this.store.catalog.kept(list.id)
    return stored?.incarnation === list.incarnation ? stored.indexVersion : undefined
  }

  page(list: ListRef, name: string): Promise<Uint8Array | undefined> {
    return this.pages.read(list, name)
  }

  async claim(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean> {
    if (!(await this.claims.take(list, owner, now + leaseMs, now))) return false
    // Pages of a dead builder must not be mixed with those of this build.
    await this.pages.drop(list, await this.unnamed(list))
    return true
  }

  renew(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean> {
    return this.claims.renew(list, owner, now + leaseMs)
  }

  async builder(list: ListRef, now: number): Promise<string | undefined> {
    const claim = await this.claims.read(list.id)
    const isLive = claim?.incarnation === list.incarnation && claim.until > now
    return isLive ? claim.owner : undefined
  }

  async putPage(list: ListRef, owner: string, name: string, page: Uint8Array): Promise<boolean> {
    if (!(await this.claims.isHeld(list, owner))) return false
    await this.pages.write(list, owner, name, page)
    if (await this.claims.isHeld(list, owner)) return true
    // Another builder has taken over meanwhile, and may have cleaned up before this page was written.
    await this.pages.drop(list, [name])
    return false
  }

  async publish(list: ListRef, owner: string, manifest: Manifest): Promise<boolean> {
    const stored = await this.claims.stored(list)
    const pages = await this.pages.names(list)
    if (stored === undefined || !manifest.pages.every(({ name }) => pages.has(name))) return false
    const { applied } = await this.store.client.transactWrite(VERB, [
      this.setVersion(stored, manifest.version),
      { Put: { ...this.table, Item: encodeManifest(list, manifest) } },
      this.claims.endStep(list, owner),
    ])
    if (!applied) return false
    await this.store.catalog.read(list.id)
    for (const { name } of manifest.pages) pages.delete(name)
    await this.pages.drop(list, pages.keys())
    return true
  }

  async abandon(list: ListRef, owner: string): Promise<void> {
    const claim = await this.claims.read(list.id)
    if (claim?.owner === owner && claim.incarnation === list.incarnation) await this.end(list, claim)
  }

  /** For upkeep: if the process of a build died, deletes the pages that no manifest names. */
  async endDead({ parts: [listId = ''] }: DueTask, now: number): Promise<TaskResult> {
    const claim = await this.claims.read(listId)
    if (claim === undefined) return 'done'
    if (claim.until > now) return { again: claim.until }
    await this.end({ id: listId, incarnation: claim.incarnation }, claim)
    return 'done'
  }

  async *scan(list: ListRef): AsyncGenerator<KeyBlock> {
    yield* keyBlocks(this.store, list)
  }

  countUses(uses: ReadonlyMap<string, number>): Promise<void> {
    return this.uses.add(uses)
  }

  mostUsed(limit: number): Promise<string[]> {
    return this.uses.most(limit)
  }

  /** The builder's pages are listed before the claim ends: later pages belong to another builder. */
  private async end(list: ListRef, claim: Claim): Promise<void> {
    const litter = await this.unnamed(list, claim.owner)
    if (await this.claims.end(list, claim)) await this.pages.drop(list, litter)
  }

  /** Pages that the manifest does not name, of one owner or of all. */
  private async unnamed(list: ListRef, owner?: string): Promise<string[]> {
    const pages = await this.pages.names(list)
    if (pages.size === 0) return []
    for (const { name } of (await this.manifest(list))?.pages ?? []) pages.delete(name)
    return [...pages].filter(([, by]) => owner === undefined || by === owner).map(([name]) => name)
  }

  private setVersion(list: StoredList, version: string): TransactionItem {
    const expression = new Expression().set({ indexVersion: text(version) })
    expression.when(sameList(expression, list))
    return { Update: { ...this.table, Key: metaKey(list.id), ...expression.update() } }
  }

  private get table(): { TableName: string } {
    return { TableName: this.store.tables.allowlists }
  }
}

/** With the attributes of the filter items of the source design, for people who read the table. */
function encodeManifest(list: ListRef, manifest: Manifest): Item {
  return {
    ...manifestKey(list.id),
    buffer: bytes(gzipSync(JSON.stringify(manifest))),
    compressed: { BOOL: true },
    version: text(manifest.version),
    itemCount: number(manifest.customers),
    sizeBytes: number(manifest.sizeBytes),
    createdAt: text(new Date(manifest.builtAt).toISOString()),
  }
}
