import { isCatracaError } from '../../../core/errors.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { DUE_KEY } from './keys.js'

const SETTLE = defineScript('due-settle', { keys: 1, write: true })

const MAX_NOTED = 10_000

export interface DueList {
  id: string
  /** The moment that it is due from. */
  atMs: number
}

/**
 * Lists that upkeep must look at, and from when on. What is due is noted before it is done, so that a crash cannot
 * lose it. Upkeep also walks over all lists, so a note that is lost in a race only delays it.
 */
export class DueLists {
  /** The earliest moment that this instance has noted of each list. */
  private readonly noted = new Map<string, number>()

  constructor(private readonly redis: Redis) {}

  async note(id: string, atMs: number, now: number): Promise<void> {
    const noted = this.noted.get(id)
    // A moment that has come may have been dealt with; an earlier one to come covers this one.
    if (noted !== undefined && noted > now && noted <= atMs) return
    await this.redis.write(DUE_KEY, ['ZADD', DUE_KEY, 'LT', String(atMs), id])
    if (this.noted.size >= MAX_NOTED) this.noted.clear()
    this.noted.set(id, atMs)
  }

  /** On a full server lists must be deleted and swept all the same; upkeep comes to them on its walk. */
  async noteIfRoom(id: string, atMs: number, now: number): Promise<void> {
    await ifRoom(this.note(id, atMs, now))
  }

  async at(now: number, limit: number): Promise<DueList[]> {
    const args = [
      'ZRANGE',
      DUE_KEY,
      '-inf',
      String(now),
      'BYSCORE',
      'LIMIT',
      '0',
      String(limit),
      'WITHSCORES',
    ]
    const found = (await this.redis.read(DUE_KEY, args)) as [string, number][]
    return found.map(([id, atMs]) => ({ id, atMs: Number(atMs) }))
  }

  /** It was looked at; `next` is when it must be looked at again. */
  async settle({ id, atMs }: DueList, next: number | undefined): Promise<void> {
    this.noted.delete(id)
    const args = [id, String(atMs), next === undefined ? '' : String(next)]
    await ifRoom(this.redis.run(SETTLE, [DUE_KEY], args))
  }
}

async function ifRoom(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isCatracaError(error, 'STORE_FULL')) throw error
  }
}
