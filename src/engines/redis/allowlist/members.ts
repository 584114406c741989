import { CatracaError } from '../../../core/errors.js'
import { MAX_CUSTOMER_KEY_LENGTH, writeCustomerKey } from '../../../guards/allowlist/customer-key.js'
import {
  type AddOutcome,
  type ListStore,
  type MemberAttributes,
  type MemberPage,
  type MemberRecord,
  type MemberStore,
  type Membership,
  type RemoveOutcome,
  ViewChanged,
} from '../../../guards/allowlist/port.js'
import { shardOf } from '../../../guards/allowlist/shard.js'
import { unlessUnreadable } from '../../../guards/allowlist/unreadable.js'
import { behindChange } from '../link/failures.js'
import type { Argument, Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { attributesTail, readMember } from './attributes.js'
import type { Catalog } from './catalog.js'
import type { ChangeChannel } from './change-channel.js'
import type { DueLists } from './due-lists.js'
import type { Lookups } from './lookups.js'
import type { MemberPages } from './member-pages.js'
import type { RedisList } from './meta.js'
import { registeredLists } from './registry.js'
import { newMark, SHARD_KEY_TYPES, SHARD_USES, shardScriptKeys } from './shard-script.js'
import type { Shard, Shards } from './shards.js'
import type { Tokens } from './tokens.js'

const WRITE = defineScript('allowlist-write', { keys: SHARD_KEY_TYPES, write: true, uses: SHARD_USES })

const MAX_TRIES = 10
/** Lists that are asked for one customer at once. */
const ASKED_AT_ONCE = 200
const NOT_FOUND = { outcome: 'list-not-found' } as const

interface MemberParts {
  redis: Redis
  catalog: Catalog
  shards: Shards
  lists: ListStore
  lookups: Lookups
  pages: MemberPages
  due: DueLists
  tokens: Tokens
  wake: ChangeChannel
  maxLogBytes: number
}

type Change = { verb: 'add'; attributes: MemberAttributes } | { verb: 'remove'; attributes?: undefined }
type WriteReply = [outcome: string, count: number, sequence: number, mark: number]

export class RedisMembers implements MemberStore {
  readonly storesAuditEntries = false
  constructor(private readonly parts: MemberParts) {}

  async add(
    listId: string,
    customerId: string,
    attributes: MemberAttributes,
    now: number,
  ): Promise<AddOutcome> {
    const { expiresAt } = attributes
    if (expiresAt !== undefined) await this.parts.due.note(listId, expiresAt, now)
    const done = await this.change(listId, customerId, { verb: 'add', attributes }, now)
    return done === undefined ? NOT_FOUND : (done as AddOutcome)
  }

  async remove(listId: string, customerId: string, now: number): Promise<RemoveOutcome> {
    const done = await this.change(listId, customerId, { verb: 'remove' }, now)
    return done === undefined ? NOT_FOUND : (done as RemoveOutcome)
  }

  private async change(listId: string, customerId: string, change: Change, now: number) {
    const { catalog, shards, tokens } = this.parts
    const list = (await catalog.checked(listId)) ?? (await catalog.read(listId))
    if (list === undefined) return undefined
    const written = await shards.run(
      list,
      ({ shardCount }) => shardOf(customerId, shardCount),
      (shard) => this.write(shard, customerId, change, now),
      'id',
    )
    if (written === undefined) return undefined
    const { shard } = written
    const [outcome, count, sequence] = written.reply as WriteReply
    const customerCount = count + (await behindChange(this.countOfOthers(shard)))
    return { outcome, customerCount, token: tokens.of(shard.list, shard.shard, sequence) }
  }

  private write({ list, keys }: Shard, customerId: string, { verb, attributes }: Change, now: number) {
    const key = Buffer.alloc(MAX_CUSTOMER_KEY_LENGTH)
    const args: Argument[] = [
      String(list.incarnation),
      String(list.generation),
      verb,
      customerId,
      key.subarray(0, writeCustomerKey(customerId, key, 0)),
      verb === 'add' ? attributesTail(attributes) : '',
      String(attributes?.expiresAt ?? 0),
      String(now),
      String(newMark()),
      String(this.parts.maxLogBytes),
      this.parts.wake.channel,
      list.id,
    ]
    return this.parts.redis.run(WRITE, shardScriptKeys(keys), args)
  }

  private async countOfOthers({ list, shard: own }: Shard): Promise<number> {
    const others = this.parts.shards.all(list).filter(({ shard }) => shard !== own)
    const counts = others.map(async ({ keys: { members } }) =>
      Number(await this.parts.redis.read(members, ['SCARD', members])),
    )
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }

  async get(listId: string, customerId: string): Promise<MemberRecord | undefined> {
    const { catalog, lookups } = this.parts
    return steady(async () => {
      const list = await catalog.read(listId)
      const found = list?.type === 'FIXA' ? await lookups.find(list, customerId) : undefined
      return found && readMember(customerId, found.attributes)
    })
  }

  async page(
    ...[listId, after, limit, prefix]: Parameters<MemberStore['page']>
  ): Promise<MemberPage | undefined> {
    const { catalog, pages } = this.parts
    return steady(async () => {
      const list: RedisList | undefined = await catalog.read(listId)
      return list && pages.page(list, after, limit, prefix)
    })
  }

  /** Asks the lists themselves: an index by customer would take more memory than all sets together. */
  async listsOf(customerId: string, after: string | undefined, limit: number): Promise<Membership[]> {
    const { redis, lists } = this.parts
    const memberships: Membership[] = []
    for await (const ids of registeredLists(redis, after, ASKED_AT_ONCE)) {
      const found = ids.map(async (id) => {
        const member = await this.get(id, customerId)
        // Counting members takes further calls, so only for lists that hold the customer.
        const list = member && (await lists.get(id))
        return list && { list, member }
      })
      const readable = await Promise.all(found.map((one) => one.catch(unlessUnreadable)))
      memberships.push(...readable.filter((membership) => membership !== undefined))
      if (memberships.length >= limit) break
    }
    return memberships.slice(0, limit)
  }
}

/** Tries again if the members were replaced meanwhile. */
async function steady<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ViewChanged)) throw error
      if (tries < MAX_TRIES) continue
      throw new CatracaError('ENGINE_UNAVAILABLE', 'the list is being replaced faster than it can be read')
    }
  }
}
