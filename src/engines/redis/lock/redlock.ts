import { CatracaError, isCatracaError } from '../../../core/errors.js'
import { later } from '../../../core/timers.js'
import type {
  Attempt,
  AttemptOutcome,
  LockStore,
  OwnerOutcome,
  StoredLock,
} from '../../../guards/lock/port.js'
import { isForeign } from '../link/failures.js'
import type { RedisOptions } from '../link/options.js'
import type { Redis } from '../link/redis.js'
import type { RedisUrl } from '../url.js'
import { RedlockServer } from './redlock-server.js'
import { RedisLocks } from './store.js'

/** What one server says: yes, no, or nothing in time. */
type Vote<T> = { server: number; said: T } | { server: number; error: unknown }

/**
 * A server that has not voted by then counts as silent. A small share of the lock's lifetime, so that most of it
 * remains.
 */
const SILENT_AFTER_SHARE = 0.2
const SILENT_AFTER_MS = 1000
/** When a majority has released a lock, it is free. The other servers get this long to release it too. */
const DRAIN_MS = 200

export interface OpenedRedlock extends LockStore {
  close(): Promise<void>
}

/** Opens at least a majority. */
export async function openRedlock(urls: readonly RedisUrl[], options: RedisOptions): Promise<OpenedRedlock> {
  const servers = urls.map((url) => new RedlockServer(url, options))
  const lock = new Redlock(servers)
  const open = (await Promise.all(servers.map((server) => server.open()))).filter(Boolean).length
  if (open >= lock.quorum) return lock
  await lock.close()
  const message = `${open} of ${servers.length} servers of locks.redlock answer, and ${lock.quorum} are needed`
  throw new CatracaError('ENGINE_UNAVAILABLE', message)
}

/**
 * The Redlock algorithm over independent servers: a caller holds a lock if a majority granted it. It survives the
 * loss of a minority. It offers no fence: each server counts separately, so fences of two majorities have no common
 * order.
 */
class Redlock implements OpenedRedlock {
  readonly pollMs = 250
  readonly quorum: number
  private readonly stores = new WeakMap<Redis, RedisLocks>()

  constructor(private readonly servers: readonly RedlockServer[]) {
    this.quorum = (servers.length >> 1) + 1
  }

  async acquire(attempt: Attempt): Promise<AttemptOutcome> {
    const timeoutMs = Math.min(SILENT_AFTER_MS, attempt.ttlMs * SILENT_AFTER_SHARE)
    // If it is not acquired, it is released everywhere. Waiters poll: a message of one server among several means
    // little.
    const single = { ...attempt, waits: false }
    const votes = await this.vote(
      timeoutMs,
      (store) => store.acquire(single),
      ({ outcome }) => outcome === 'acquired',
    )
    const said = votes.flatMap((vote) => ('said' in vote ? [vote.said] : []))
    if (said.filter(({ outcome }) => outcome === 'acquired').length >= this.quorum) {
      return { outcome: 'acquired', fence: undefined }
    }
    await this.freeEverywhere(attempt.name, attempt.owner, timeoutMs)
    const held = said.flatMap((one) => (one.outcome === 'held' ? [one.retryAfterMs] : []))
    // Enough servers for a majority have answered: another caller holds the lock, or several hold parts of it.
    if (said.length >= this.quorum) return { outcome: 'held', retryAfterMs: shortest(held, this.pollMs) }
    throw silence(votes, this.servers.length)
  }

  async extend(name: string, owner: string, ttlMs: number): Promise<OwnerOutcome> {
    const timeoutMs = Math.min(SILENT_AFTER_MS, ttlMs * SILENT_AFTER_SHARE)
    return this.decide(timeoutMs, 0, (store) => store.extend(name, owner, ttlMs))
  }

  async release(name: string, owner: string): Promise<OwnerOutcome> {
    return this.decide(SILENT_AFTER_MS, DRAIN_MS, (store) => store.release(name, owner))
  }

  async remove(name: string): Promise<boolean> {
    const votes = await this.vote(SILENT_AFTER_MS, (store) => store.remove(name))
    const freed = votes.filter((vote) => 'said' in vote && vote.said).length
    const [foreign] = foreignIn(votes)
    if (freed < this.quorum && foreign !== undefined) throw foreign
    return freed >= this.quorum
  }

  async read(name: string, now: number): Promise<StoredLock | undefined> {
    const votes = await this.vote(SILENT_AFTER_MS, (store) => store.read(name, now))
    const said = votes.flatMap((vote) => ('said' in vote ? [vote.said] : []))
    if (said.length < this.quorum) throw silence(votes, this.servers.length)
    const held = said.flatMap((one) => (one?.isHeld ? [one.expiresAt ?? Number.POSITIVE_INFINITY] : []))
    if (held.length < this.quorum) return undefined
    // It is held as long as a majority holds it.
    const expiresAt = held.sort((a, b) => b - a)[this.quorum - 1]!
    return { isHeld: true, fence: undefined, expiresAt: Number.isFinite(expiresAt) ? expiresAt : undefined }
  }

  /** Each server has a part of the votes, and none knows who has the majority. */
  async list(): Promise<never> {
    throw new CatracaError('STORE_UNSUPPORTED', 'locks over several servers cannot be listed')
  }

  watch(): () => void {
    return () => {}
  }

  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()))
  }

  private async decide(
    timeoutMs: number,
    drainMs: number,
    ask: (store: RedisLocks) => Promise<OwnerOutcome>,
  ): Promise<OwnerOutcome> {
    const votes = await this.vote(timeoutMs, ask, (outcome) => outcome === 'done', drainMs)
    const said = votes.flatMap((vote) => ('said' in vote ? [vote.said] : []))
    if (said.filter((outcome) => outcome === 'done').length >= this.quorum) return 'done'
    if (said.length >= this.quorum) return 'lost'
    throw silence(votes, this.servers.length)
  }

  /** Also on servers that gave no answer: they may have granted the lock all the same. */
  private async freeEverywhere(name: string, owner: string, timeoutMs: number): Promise<void> {
    await this.vote(
      timeoutMs,
      (store) => store.release(name, owner),
      () => true,
      DRAIN_MS,
    )
  }

  /**
   * Calls all servers at once. Ends when all have answered, at the timeout, or `drainMs` after a majority gave the
   * same answer.
   */
  private vote<T>(
    timeoutMs: number,
    ask: (store: RedisLocks) => Promise<T>,
    isYes?: (said: T) => boolean,
    drainMs = 0,
  ): Promise<Vote<T>[]> {
    return new Promise((resolve) => {
      const votes: Vote<T>[] = []
      const end = () => {
        clearTimeout(timer)
        resolve(votes)
      }
      let timer = later(end, timeoutMs)
      let [yes, no] = [0, 0]
      const count = (vote: Vote<T>) => {
        votes.push(vote)
        if (votes.length === this.servers.length) return end()
        if (!('said' in vote) || isYes === undefined) return
        if ((isYes(vote.said) ? ++yes : ++no) !== this.quorum) return
        if (drainMs === 0) return end()
        clearTimeout(timer)
        timer = later(end, Math.min(drainMs, timeoutMs))
      }
      this.servers.forEach((one, server) => {
        one
          .ask((redis) => ask(this.storeOf(redis)))
          .then(
            (said) => count({ server, said }),
            (error) => count({ server, error }),
          )
      })
    })
  }

  private storeOf(redis: Redis): RedisLocks {
    let store = this.stores.get(redis)
    if (store === undefined) this.stores.set(redis, (store = new RedisLocks(redis, 0)))
    return store
  }
}

const shortest = (times: readonly number[], otherwise: number): number =>
  times.length === 0 ? otherwise : Math.min(...times)

/** The errors of servers where another program has written under the key. */
const foreignIn = (votes: readonly Vote<unknown>[]): unknown[] =>
  votes.flatMap((vote) => ('error' in vote && isForeign(vote.error) ? [vote.error] : []))

function silence(votes: readonly Vote<unknown>[], servers: number): unknown {
  const said = votes.filter((vote) => 'said' in vote).length
  const foreign = foreignIn(votes)
  if (foreign.length > 0 && said + foreign.length > servers / 2) return foreign[0]
  const full = votes.filter((vote) => 'error' in vote && isCatracaError(vote.error, 'STORE_FULL')).length
  if (said + full > servers / 2) {
    return new CatracaError('STORE_FULL', `${full} of ${servers} servers are out of memory: no majority`)
  }
  return new CatracaError('ENGINE_UNAVAILABLE', `${said} of ${servers} servers answered in time: no majority`)
}
