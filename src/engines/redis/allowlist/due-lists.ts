import { isCatracaError } from '../../../core/errors.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { DUE_KEY } from './keys.js'

const SETTLE = defineScript('due-settle', { keys: 1, write: true })

const MAX_NOTED = 10_000

interface DueList {
  id: string
  /** Since when it is due. */
  atMs: number
}

/**
 * Lists that need upkeep, and from when on. They are recorded before the work begins, so that a crash cannot lose it.
 * Upkeep also walks over all lists, so a record that is lost in a race only causes a delay.
 */
export class DueLists {
  /** The earliest time that this instance recorded for each list. */
  private readonly noted = new Map<string, number>()

  constructor(private readonly redis: Redis) {}

  async note(id: string, atMs: number, now: number): Promise<void> {
    const noted = this.noted.get(id)
    // A time in the past may be done already. An earlier time in the future covers this one.
    if (noted !== undefined && noted > now && noted <= atMs) return
    await this.redis.write(DUE_KEY, ['ZADD', DUE_KEY, 'LT', String(atMs), id])
    if (this.noted.size >= MAX_NOTED) this.noted.clear()
    this.noted.set(id, atMs)
  }

  /** On a full server lists must still be deleted and swept. Upkeep finds them on its walk. */
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

  /** Upkeep of the list is done; `next` is when it needs upkeep again. */
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
