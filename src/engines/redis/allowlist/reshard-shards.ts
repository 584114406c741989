import type { ReshardProgress } from '../../../guards/allowlist/port.js'
import { defineScript } from '../link/script.js'
import type { BulkContext } from './bulk-context.js'
import { again } from './bulk-shards.js'
import { listKeys, type ShardKeys, shardKeys } from './keys.js'
import { listOf, type RedisList } from './meta.js'
import { SHARD_KEY_TYPES, SHARD_USES, shardScriptKeys } from './shard-script.js'

const END = defineScript('allowlist-reshard-end', { keys: 1, write: true, uses: ['clock'] })
const FREEZE = defineScript('allowlist-reshard-freeze', { keys: 1, write: true })
const DROP = defineScript('allowlist-reshard-drop', {
  keys: [...SHARD_KEY_TYPES, 'hash', 'set'],
  write: true,
  uses: SHARD_USES,
})
const SWITCH = defineScript('allowlist-reshard-switch', { keys: ['hash', 'hash'], write: true })
/** Value of `frozen` in a dropped shard. */
const DROPPED_MARK = 'moved'
const DROPPED = defineScript('allowlist-reshard-dropped', { keys: 1, write: true })

/** A move to another number of shards, as stored in the metadata of its list. */
export interface Moving extends ReshardProgress {
  owner: string
  shards: number
  /** The generation of the list after the move. */
  generation: number
  /** By the clock of the server. */
  leaseUntil: number
}

/** All keys of a shard, in the order of the scripts of moves. */
export const allKeys = (keys: ShardKeys): string[] => [...shardScriptKeys(keys), keys.writers, keys.old]

export const shardsNamed = (listId: string, shards: number): ShardKeys[] =>
  Array.from({ length: shards }, (_, shard) => shardKeys(listId, shards, shard))

export async function freeze(
  { redis }: BulkContext,
  list: RedisList,
  { state }: ShardKeys,
  owner: string,
  verb: 'freeze' | 'thaw',
): Promise<'frozen' | 'thawed' | 'gone' | 'stale'> {
  const args = [String(list.incarnation), String(list.generation), owner, verb]
  return (await again(() => redis.run(FREEZE, [state], args))) as 'frozen'
}

/** Ends a move that has not switched, if it is dead or its owner ends it. False if it is alive. */
export async function endMove(
  context: BulkContext,
  list: RedisList,
  owner: string,
  by: 'own' | 'other',
): Promise<boolean> {
  const { meta } = listKeys(list.id)
  if ((await again(() => context.redis.run(END, [meta], [owner, by]))) !== 1) return false
  await thawAll(context, list.id)
  return true
}

/** Lets the shards of a list accept changes again, unless a move in the metadata has frozen them. */
export async function thawAll(context: BulkContext, listId: string): Promise<void> {
  const { redis, catalog } = context
  const meta = await catalog.readMeta(listId)
  if (meta === undefined || meta.deleted !== undefined) return
  const mover = meta.moving === undefined ? undefined : (JSON.parse(meta.moving) as Moving).owner
  const list = listOf(listId, meta)
  // Instances that still use the old shards must not find them when the new ones accept their first change.
  if (meta.dropping !== undefined) await finishDropping(context, list)
  await Promise.all(
    shardsNamed(listId, meta.shards).map(async (keys) => {
      const frozenBy = (await redis.read(keys.state, ['HGET', keys.state, 'frozen'])) as string | null
      if (frozenBy !== null && frozenBy !== mover) await freeze(context, list, keys, frozenBy, 'thaw')
    }),
  )
}

/** Called for a frozen shard: if the mover is dead, the list accepts changes again. */
export async function thawIfDead(context: BulkContext, list: RedisList): Promise<void> {
  const meta = await context.catalog.readMeta(list.id)
  if (meta?.incarnation !== list.incarnation || meta.deleted !== undefined) return
  if (meta.moving === undefined) {
    await thawAll(context, list.id)
    return
  }
  const moving = JSON.parse(meta.moving) as Moving
  const { meta: key } = listKeys(list.id)
  if ((await again(() => context.redis.run(END, [key], [moving.owner, 'look']))) !== 1) return
  if (await hasSwitched(context, listOf(list.id, meta), moving)) {
    await switchTo(context, list, moving, [])
    context.catalog.forget(list.id)
    await thawAll(context, list.id)
  } else await endMove(context, list, moving.owner, 'other')
}

/**
 * A failover may lose the switch in the metadata after other servers have followed it: the old shards were deleted,
 * or the new ones accept changes. Then only the new shards have the members, and the switch must be repeated.
 */
async function hasSwitched({ redis }: BulkContext, list: RedisList, moving: Moving): Promise<boolean> {
  const states = (shards: number) =>
    Promise.all(
      shardsNamed(list.id, shards).map(({ state }) =>
        again(() => redis.read(state, ['HMGET', state, 'incarnation', 'generation', 'frozen'])),
      ),
    ) as Promise<(string | null)[][]>
  const [from, to] = await Promise.all([states(list.shardCount), states(moving.shards)])
  const isOwn = ([incarnation]: (string | null)[]) => incarnation === String(list.incarnation)
  return (
    from.some((state) => isOwn(state) && state[2] === DROPPED_MARK) ||
    to.some((state) => isOwn(state) && Number(state[1]) === moving.generation && state[2] === null)
  )
}

/** Switches the list to the shards that a move has filled. `imports`: import ids and texts in turn. */
export async function switchTo(
  { redis, wake }: BulkContext,
  { id, incarnation }: RedisList,
  { owner, shards, generation }: Pick<Moving, 'owner' | 'shards' | 'generation'>,
  imports: readonly string[],
): Promise<'switched' | 'lost' | 'gone'> {
  const { meta, imports: importsKey } = listKeys(id)
  const args = [String(incarnation), owner, String(shards), String(generation), wake.channel, id, ...imports]
  return (await again(() => redis.run(SWITCH, [meta, importsKey], args))) as 'switched'
}

/** Deletes the shards that a list has moved away from, or that an abandoned move has filled. True if there were any. */
export async function finishDropping(context: BulkContext, list: RedisList): Promise<boolean> {
  const { redis } = context
  const { meta } = listKeys(list.id)
  const text = (await again(() => redis.read(meta, ['HGET', meta, 'dropping']))) as string | null
  if (text === null) return false
  const { shards, generation } = JSON.parse(text) as { shards: number; generation: number }
  await dropShards(context, list, shards, generation)
  await again(() => redis.run(DROPPED, [meta], [text]))
  return true
}

/** Shards of this generation or a later one are in use and stay. */
export async function dropShards(
  { redis }: BulkContext,
  list: RedisList,
  shards: number,
  generation: number,
): Promise<void> {
  const args = [String(list.incarnation), String(generation)]
  await Promise.all(
    shardsNamed(list.id, shards).map((keys) => again(() => redis.run(DROP, allKeys(keys), args))),
  )
}
