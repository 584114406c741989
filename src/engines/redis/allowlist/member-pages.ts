import { invalidCursor } from '../../../core/paging.js'
import { type MemberPage, ViewChanged } from '../../../guards/allowlist/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { generationValue, readMember } from './attributes.js'
import { isIdentifier } from './keys.js'
import type { RedisList } from './meta.js'
import type { Shards } from './shards.js'

const PAGE = defineScript('allowlist-page', { keys: 2, write: false })

/**
 * Steps are smaller than a page: even if the set is resized, the next page gets past the step in which this page
 * ends.
 */
const STEPS_PER_PAGE = 4
const SMALLEST_STEP = 10
const LARGEST_STEP = 250
/** Maximum steps per page, so that a sparse set cannot delay it. */
const MAX_STEPS = 40

type PageReply = [generation: string | null, next: string, ids: string[], attributes: (string | null)[]]

/** Where a page ends: `LAYOUT.GENERATION:SHARD:CURSOR[:COUNT:NEXT:LAST_ID]`. */
interface Place {
  shard: number
  cursor: string
  /** Set if only a part of the step at the cursor was returned. */
  told?: PartialStep
}

interface PartialStep {
  /** A step with another count returns other members. */
  count: string
  /** The cursor after the step. */
  next: string
  lastId: string
}

const BEGINNING: Place = { shard: 0, cursor: '0' }

/**
 * Pages of members. SSCAN has no order, so the members of a step are sorted. The step in which a page ends is
 * returned in part, and read again for the next page. If the set was resized in between, the step covers other
 * members, which its next cursor shows. Then the whole step is returned: a member may come twice, but none is missed.
 */
export class MemberPages {
  constructor(
    private readonly redis: Redis,
    private readonly shards: Shards,
  ) {}

  async page(
    list: RedisList,
    after: string | undefined,
    limit: number,
    prefix?: string,
  ): Promise<MemberPage> {
    const wanted = { limit, prefix }
    const page: MemberPage = { members: [] }
    let place: Place | undefined = after === undefined ? BEGINNING : placeIn(list, after)
    for (let steps = 0; place !== undefined && steps < MAX_STEPS && page.members.length < limit; steps++) {
      place = await this.step(list, place, wanted, page)
    }
    if (place !== undefined) page.next = textOf(list, place)
    return page
  }

  private async step(
    list: RedisList,
    { shard, cursor, told }: Place,
    { limit, prefix }: { limit: number; prefix: string | undefined },
    page: MemberPage,
  ): Promise<Place | undefined> {
    const { members, attributes: key } = this.shards.keys(list, shard)
    const count = told?.count ?? String(prefix === undefined ? stepOf(limit) : LARGEST_STEP)
    const args = prefix === undefined ? [cursor, count] : [cursor, count, `${prefix}*`]
    const reply = (await this.redis.run(PAGE, [members, key], args)) as PageReply
    const [generation, next, ids, attributes] = reply
    if (generation !== generationValue(list.incarnation, list.generation)) {
      await this.shards.settled(list, shard, 'stale')
      throw new ViewChanged()
    }
    const texts = new Map(ids.map((id, i) => [id, attributes[i] ?? null]))
    const upTo = told?.next === next ? told.lastId : ''
    // Elements that are not identifiers cannot be checked, and are left out.
    const rest = [...texts.keys()].filter((id) => id > upTo && isIdentifier(id)).sort()
    const room = limit - page.members.length
    page.members.push(...rest.slice(0, room).map((id) => readMember(id, texts.get(id)!)))
    if (rest.length <= room) return behind(list, shard, next)
    return { shard, cursor, told: { count, next, lastId: rest[room - 1]! } }
  }
}

const stepOf = (limit: number): number =>
  Math.min(LARGEST_STEP, Math.max(SMALLEST_STEP, Math.ceil(limit / STEPS_PER_PAGE)))

function behind({ shardCount }: RedisList, shard: number, cursor: string): Place | undefined {
  if (cursor !== '0') return { shard, cursor }
  return shard + 1 < shardCount ? { shard: shard + 1, cursor: '0' } : undefined
}

function textOf({ layout, generation }: RedisList, { shard, cursor, told }: Place): string {
  const part = told === undefined ? '' : `:${told.count}:${told.next}:${told.lastId}`
  return `${layout}.${generation}:${shard}:${cursor}${part}`
}

const PLACE = /^(\d+\.\d+):(\d+):(\d+)(?::(\d+):(\d+):(.+))?$/

/** After a replace or a move to other shards, paging starts again, so that no member is missed. */
function placeIn({ layout, generation, shardCount }: RedisList, text: string): Place {
  const [, version, shard, cursor, count, next, lastId] = PLACE.exec(text) ?? []
  // A cursor may be forged, and a large step would block the server.
  if (version === undefined || Number(count ?? 0) > LARGEST_STEP) throw invalidCursor()
  if (version !== `${layout}.${generation}` || Number(shard) >= shardCount) return BEGINNING
  const place: Place = { shard: Number(shard), cursor: cursor! }
  return lastId === undefined ? place : { ...place, told: { count: count!, next: next!, lastId } }
}
