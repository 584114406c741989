import { flag, type Item, number, optionalNumber, optionalText, text } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { Expression } from '../client/expression.js'
import { whole } from '../client/key-ranges.js'
import {
  expiresIn,
  FEED_PARTITION,
  PAST_STREAM_SECONDS,
  RELAY_PREFIX,
  relayKey,
  SHARD_PREFIX,
  shardKey,
} from './feed-items.js'

/** A shard of a stream, and the progress of its relay. */
export interface ShardState {
  stream: string
  shardId: string
  owner?: string
  /** Until then no other relay may take it. */
  leaseUntil: number
  /** The last record that was processed. */
  checkpoint?: string
  isFinished: boolean
  /** When it was last read up to its current end without failures. */
  cleanAt: number
}

export interface RelayState {
  shards: ShardState[]
  /** The running relays. */
  owners: Set<string>
}

/** Stored when a lease is renewed. */
export type Progress = Pick<ShardState, 'cleanAt' | 'isFinished'> & { checkpoint: string | undefined }

/**
 * Which relay reads which shard. It only saves work: if two relays read the same shard for a while, everything is
 * processed twice, with the same result.
 */
export class RelayLeases {
  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
    readonly owner: string,
    readonly leaseMs: number,
    private readonly now: () => number,
  ) {}

  async state(): Promise<RelayState> {
    const state: RelayState = { shards: [], owners: new Set() }
    const input = { TableName: this.table, ...whole(FEED_PARTITION) }
    for (const item of await this.client.queryAll('relay.state', input)) this.note(state, item)
    return state
  }

  private note({ shards, owners }: RelayState, item: Item): void {
    const sort = item.SK?.S ?? ''
    if (sort.startsWith(SHARD_PREFIX)) shards.push(readShard(sort, item))
    const isAlive = (optionalNumber(item, 'until') ?? 0) > this.now()
    if (sort.startsWith(RELAY_PREFIX) && isAlive) owners.add(sort.slice(RELAY_PREFIX.length))
  }

  async announce(): Promise<void> {
    const until = this.now() + this.leaseMs
    const Item = { ...relayKey(this.owner), until: number(until), expiresAt: expiresIn(3600, until) }
    await this.client.putItem('relay.announce', { TableName: this.table, Item })
  }

  async leave(): Promise<void> {
    await this.client.deleteItem('relay.leave', { TableName: this.table, Key: relayKey(this.owner) })
  }

  /** False: another relay was faster. */
  claim(stream: string, shardId: string): Promise<boolean> {
    const now = this.now()
    const lease = { owner: text(this.owner), until: number(now + this.leaseMs) }
    return this.update(stream, shardId, lease, (expression) => {
      const until = expression.name('until')
      const isFree = `${expression.absent('until')} OR ${until} < ${expression.value(number(now))}`
      const isMine = expression.equals('owner', text(this.owner))
      return `${expression.absent('finished')} AND (${isFree} OR ${isMine})`
    })
  }

  /** Renews the lease, or releases it. False: it was lost. */
  store(stream: string, shardId: string, progress: Progress, keeps: boolean): Promise<boolean> {
    const { checkpoint, cleanAt, isFinished } = progress
    const until = keeps && !isFinished ? this.now() + this.leaseMs : 0
    const set = {
      until: number(until),
      cleanAt: number(cleanAt),
      ...(checkpoint !== undefined && { checkpoint: text(checkpoint) }),
      ...(isFinished && { finished: flag(true) }),
    }
    return this.update(stream, shardId, set, (expression) => expression.equals('owner', text(this.owner)))
  }

  /** Deletes a shard that no longer exists in the stream. */
  async drop({ stream, shardId }: ShardState): Promise<void> {
    const Key = shardKey(stream, shardId)
    await this.client.deleteItem('relay.drop', { TableName: this.table, Key })
  }

  private async update(
    stream: string,
    shardId: string,
    set: Item,
    condition: (expression: Expression) => string,
  ): Promise<boolean> {
    // It is renewed while the shard is read. After that it stays for the shard's children.
    const expiresAt = expiresIn(PAST_STREAM_SECONDS, this.now())
    const expression = new Expression().set({ ...set, expiresAt })
    expression.when(condition(expression))
    const input = { TableName: this.table, Key: shardKey(stream, shardId), ...expression.update() }
    return (await this.client.updateItem('relay.lease', input, { repeatable: true })).applied
  }
}

function readShard(sort: string, item: Item): ShardState {
  const [, stream = '', shardId = ''] = sort.split('#')
  const owner = optionalText(item, 'owner')
  const checkpoint = optionalText(item, 'checkpoint')
  return {
    stream,
    shardId,
    leaseUntil: optionalNumber(item, 'until') ?? 0,
    isFinished: item.finished?.BOOL === true,
    cleanAt: optionalNumber(item, 'cleanAt') ?? 0,
    ...(owner !== undefined && { owner }),
    ...(checkpoint !== undefined && { checkpoint }),
  }
}
