import { randomBytes } from 'node:crypto'
import type { Listing, ListingRequest } from '../../../core/listing.js'
import {
  type Attempt,
  type AttemptOutcome,
  type ListedLock,
  type LockStore,
  nextFence,
  type OwnerOutcome,
  type StoredLock,
} from '../../../guards/lock/port.js'
import { type Attribute, number, text } from '../client/attributes.js'
import type { WriteResult } from '../client/calls.js'
import type { DynamoClient } from '../client/client.js'
import { Expression } from '../client/expression.js'
import { scanPrefix } from '../client/scan-prefix.js'
import { PARTITION } from '../keys.js'
import { type LockItem, lockItemKey, lockTtl, readLock } from './items.js'
import { Observations } from './observations.js'

const LISTED = ['lockOwner', 'fence', 'expiresAt'] as const
const HOLDER = ['lockOwner', 'version', 'leaseMs', 'expiresAt'] as const
/** Further attempts after one that was refused only for its fence, by holders whose clocks are ahead. */
const MOST_ATTEMPTS = 4

/** Locks as items with conditional writes; one write unit each. No wall clock decides. */
export class DynamodbLocks implements LockStore {
  /** There are no notifications: waiters read the item. */
  readonly pollMs = 200
  private readonly observed: Observations

  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
    monotonicMs: () => number = () => performance.now(),
    /** Converts the caller's time to the server's. Fences and the TTL of items use it, locks do not. */
    private readonly time: (at: number) => number = (at) => at,
  ) {
    this.observed = new Observations(monotonicMs)
  }

  async acquire(attempt: Attempt, now: number): Promise<AttemptOutcome> {
    const { name, owner } = attempt
    // A read costs a fifth of a refused write.
    if (this.observed.isFresh(name)) {
      const known = await this.item(name)
      if (known?.owner !== undefined && known.owner !== owner) return this.held(name, known)
    }
    let last: number | undefined
    for (let tries = 0; ; tries++) {
      const fence = nextFence(last, this.time(now))
      const result = await this.take(attempt, fence, now)
      if (result.applied) {
        this.observed.forget(name)
        return { outcome: 'acquired', fence }
      }
      const found = result.item === undefined ? undefined : readLock(result.item)
      if (found?.owner === owner) return this.takeAgain(attempt, found, result.maybeOwn, now)
      const isTaken = found?.owner !== undefined && found.version !== this.observed.overdue(name)
      if (isTaken || tries === MOST_ATTEMPTS) return this.held(name, found)
      last = found?.fence
    }
  }

  /** Succeeds if the lock is free or expired, and the fence is newer than the last one. */
  private take({ name, owner, ttlMs }: Attempt, fence: number, now: number): Promise<WriteResult> {
    const overdue = this.observed.overdue(name)
    return this.update('lock.acquire', name, (expression) => {
      const isFree = expression.absent('lockOwner')
      const isOver = overdue === undefined ? '' : ` OR ${expression.equals('version', text(overdue))}`
      const isNewer = `${expression.name('fence')} < ${expression.value(number(fence))}`
      expression
        .when(`${isFree}${isOver}`, `${expression.absent('fence')} OR ${isNewer}`)
        .set({ ...holder(owner, ttlMs, this.time(now)), fence: number(fence) })
    })
  }

  /** The owner holds it already: the response of an earlier attempt was lost, or the owner calls again. */
  private async takeAgain(
    { name, owner, ttlMs }: Attempt,
    { fence }: LockItem,
    isOwnAttempt: boolean,
    now: number,
  ): Promise<AttemptOutcome> {
    const isKept = isOwnAttempt || (await this.extend(name, owner, ttlMs, now)) === 'done'
    return isKept ? { outcome: 'acquired', fence } : { outcome: 'held', retryAfterMs: this.pollMs }
  }

  private held(name: string, found: LockItem | undefined): AttemptOutcome {
    if (found?.owner === undefined) return { outcome: 'held', retryAfterMs: this.pollMs }
    const leftMs = this.observed.note(name, found.version, found.leaseMs)
    return { outcome: 'held', retryAfterMs: Math.max(1, leftMs) }
  }

  async extend(name: string, owner: string, ttlMs: number, now: number): Promise<OwnerOutcome> {
    const result = await this.update('lock.extend', name, (expression) => {
      expression.when(expression.equals('lockOwner', text(owner))).set(holder(owner, ttlMs, this.time(now)))
    })
    return result.applied ? 'done' : 'lost'
  }

  async release(name: string, owner: string, now: number): Promise<OwnerOutcome> {
    const result = await this.free('lock.release', name, now, (expression) =>
      expression.equals('lockOwner', text(owner)),
    )
    // A retry finds the lock released. The item no longer shows by whom, so it counts as its own release.
    const isOwn = !result.applied && result.maybeOwn && result.item?.lockOwner === undefined
    return result.applied || isOwn ? 'done' : 'lost'
  }

  async remove(name: string, now: number): Promise<boolean> {
    const result = await this.free('lock.remove', name, now, (expression) => expression.exists('lockOwner'))
    return result.applied
  }

  async read(name: string): Promise<StoredLock | undefined> {
    const found = await this.item(name)
    if (found === undefined) return undefined
    const isHeld = found.owner !== undefined
    return { isHeld, fence: found.fence, expiresAt: isHeld ? found.expiresAt : undefined }
  }

  async list(request: ListingRequest): Promise<Listing<ListedLock>> {
    const prefix = PARTITION.lock + request.prefix
    const scanned = { table: this.table, key: ['PK', 'SK'], sort: 'LOCK', attributes: LISTED }
    const { items, ...next } = await scanPrefix(this.client, 'lock.list', scanned, { ...request, prefix })
    const locks = items.flatMap((item): ListedLock[] => {
      const { owner, fence, expiresAt } = readLock(item)
      const name = item.PK!.S!.slice(PARTITION.lock.length)
      return owner === undefined ? [] : [{ name, fence, expiresAt }]
    })
    return { items: locks, ...next }
  }

  watch(): () => void {
    return () => {}
  }

  /** DynamoDB deletes items that were not used for a day. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }

  private async item(name: string): Promise<LockItem | undefined> {
    const item = await this.client.readItem('lock.read', this.table, lockItemKey(name))
    return item === undefined ? undefined : readLock(item)
  }

  private free(
    verb: string,
    name: string,
    now: number,
    condition: (expression: Expression) => string,
  ): Promise<WriteResult> {
    return this.update(verb, name, (expression) => {
      expression
        .when(condition(expression))
        .set({ ttl: lockTtl(this.time(now), 0) })
        .remove(...HOLDER)
    })
  }

  private update(verb: string, name: string, plan: (expression: Expression) => void): Promise<WriteResult> {
    const expression = new Expression()
    plan(expression)
    const input = { TableName: this.table, Key: lockItemKey(name), ...expression.update() }
    return this.client.updateItem(verb, input, { repeatable: true })
  }
}

function holder(owner: string, ttlMs: number, now: number): Record<string, Attribute> {
  return {
    lockOwner: text(owner),
    version: text(randomBytes(9).toString('base64url')),
    leaseMs: number(ttlMs),
    expiresAt: number(now + ttlMs),
    ttl: lockTtl(now, ttlMs),
  }
}
