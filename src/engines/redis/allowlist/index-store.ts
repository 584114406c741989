import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import type { IndexStore, KeyBlock, Manifest } from '../../../guards/allowlist/membership/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import type { Catalog } from './catalog.js'
import type { ChangeChannel } from './change-channel.js'
import type { DueLists } from './due-lists.js'
import type { IndexScan } from './index-scan.js'
import { listKeys, USES_KEY } from './keys.js'

const CLAIM = defineScript('index-claim', {
  keys: ['hash', 'hash', 'hash', 'hash'],
  write: true,
  uses: ['list'],
})
const PUT_PAGE = defineScript('index-page', { keys: ['hash', 'hash', 'hash'], write: true, uses: ['list'] })
const PUBLISH = defineScript('index-publish', {
  keys: ['hash', 'hash', 'hash', 'hash'],
  write: true,
  uses: ['list'],
})
const COUNT_USES = defineScript('index-uses', { keys: 1, write: true })

/** Use counts are halved when one gets this high, so that old use counts less. */
const MAX_USES = 1e9

type Verb = 'claim' | 'renew' | 'abandon' | 'bury'

export class RedisIndexStore implements IndexStore {
  constructor(
    private readonly redis: Redis,
    private readonly catalog: Catalog,
    private readonly due: DueLists,
    private readonly wake: ChangeChannel,
    private readonly scanner: IndexScan,
  ) {}

  async manifest(list: ListRef): Promise<Manifest | undefined> {
    const text = await this.field(list, 'manifest')
    const manifest = text === undefined ? undefined : (JSON.parse(text) as Manifest)
    // A manifest of an earlier format is ignored, and the index is built again.
    return manifest?.format === 2 ? manifest : undefined
  }

  version(list: ListRef): Promise<string | undefined> {
    return this.field(list, 'version')
  }

  private async field({ id, incarnation }: ListRef, name: string): Promise<string | undefined> {
    const { manifest: key } = listKeys(id)
    const [owner, value] = (await this.redis.read(key, ['HMGET', key, 'incarnation', name])) as (
      | string
      | null
    )[]
    return owner === String(incarnation) ? (value ?? undefined) : undefined
  }

  async page({ id }: ListRef, name: string): Promise<Uint8Array | undefined> {
    const { pages } = listKeys(id)
    const bytes = (await this.redis.readBinary(pages, ['HGET', pages, name])) as Buffer | null
    return bytes ?? undefined
  }

  async claim(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean> {
    await this.due.note(list.id, now + leaseMs, now)
    return this.change(list, 'claim', owner, now + leaseMs, now)
  }

  renew(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean> {
    return this.change(list, 'renew', owner, now + leaseMs, now)
  }

  async abandon(list: ListRef, owner: string): Promise<void> {
    await this.change(list, 'abandon', owner, 0, 0)
  }

  /** Ends a claim whose lease has expired, or returns when a live one will expire. */
  async endExpired(list: ListRef, now: number): Promise<{ buried: boolean; leaseEndsAt?: number }> {
    const claim = await this.readClaim(list)
    if (claim === undefined) return { buried: false }
    if (claim.until > now) return { buried: false, leaseEndsAt: claim.until }
    return { buried: await this.change(list, 'bury', '', 0, now) }
  }

  private async change(
    { id, incarnation }: ListRef,
    verb: Verb,
    owner: string,
    leaseEnd: number,
    now: number,
  ) {
    const { meta, build, manifest, pages } = listKeys(id)
    const args = [String(incarnation), verb, owner, String(leaseEnd), String(now)]
    return (await this.redis.run(CLAIM, [meta, build, manifest, pages], args)) === 1
  }

  async builder(list: ListRef, now: number): Promise<string | undefined> {
    const claim = await this.readClaim(list)
    return claim !== undefined && claim.until > now ? claim.owner : undefined
  }

  private async readClaim({
    id,
    incarnation,
  }: ListRef): Promise<{ owner: string; until: number } | undefined> {
    const { build } = listKeys(id)
    const args = ['HMGET', build, 'incarnation', 'owner', 'until']
    const [of, owner, until] = (await this.redis.read(build, args)) as (string | null)[]
    return of === String(incarnation) ? { owner: owner!, until: Number(until) } : undefined
  }

  async putPage(list: ListRef, owner: string, name: string, bytes: Uint8Array): Promise<boolean> {
    const { meta, build, pages } = listKeys(list.id)
    const page = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const args = [String(list.incarnation), owner, name, page]
    return (await this.redis.run(PUT_PAGE, [meta, build, pages], args)) === 1
  }

  async publish({ id, incarnation }: ListRef, owner: string, manifest: Manifest): Promise<boolean> {
    const { meta, build, manifest: key, pages } = listKeys(id)
    const args = [
      String(incarnation),
      owner,
      manifest.version,
      JSON.stringify(manifest),
      this.wake.channel,
      id,
    ]
    const names = manifest.pages.map(({ name }) => name)
    return (await this.redis.run(PUBLISH, [meta, build, key, pages], [...args, ...names])) === 1
  }

  scan(list: ListRef): AsyncIterable<KeyBlock> {
    return this.scanner.scan(list)
  }

  async countUses(uses: ReadonlyMap<string, number>): Promise<void> {
    const living = await this.living([...uses.keys()])
    if (living.length === 0) return
    const counts = living.flatMap((id) => [id, String(uses.get(id))])
    await this.redis.run(COUNT_USES, [USES_KEY], [String(MAX_USES), ...counts])
  }

  async mostUsed(limit: number): Promise<string[]> {
    // Deleted lists take up places until they are swept.
    const args = ['ZRANGE', USES_KEY, '0', String(2 * limit), 'REV']
    const living = await this.living((await this.redis.read(USES_KEY, args)) as string[])
    return living.slice(0, limit)
  }

  private async living(listIds: string[]): Promise<string[]> {
    const lists = await Promise.all(listIds.map((id) => this.catalog.checked(id)))
    return listIds.filter((_, i) => lists[i] !== undefined)
  }
}
