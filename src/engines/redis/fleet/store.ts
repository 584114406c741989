import { type FleetRecord, type FleetStore, MAX_PROCESSES } from '../../../guards/fleet/port.js'
import { PREFIX } from '../keys.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'

/** A hash: the record of each process, by its id. */
const FLEET_KEY = `${PREFIX.store}:fleet`
/** A sorted set: the ids by when they expire, in ms of the server's clock. */
const ENDS_KEY = `{${FLEET_KEY}}:ends`
const KEYS = [FLEET_KEY, ENDS_KEY]

const ANNOUNCE = defineScript('fleet-announce', { keys: ['hash', 'zset'], write: true, repeatable: true })
const LIST = defineScript('fleet-list', { keys: 2, write: false })
const LEAVE = defineScript('fleet-leave', { keys: ['hash', 'zset'], write: true, repeatable: true })

/** By the clock of the server: those of the processes may differ by more than a record lasts. */
export class RedisFleet implements FleetStore {
  readonly announceMs = 1000
  readonly expireMs = 3500

  constructor(private readonly redis: Redis) {}

  async announce(id: string, text: string, expireMs: number): Promise<void> {
    await this.redis.run(ANNOUNCE, KEYS, [id, text, String(expireMs), String(MAX_PROCESSES)])
  }

  async leave(id: string): Promise<void> {
    await this.redis.run(LEAVE, KEYS, [id])
  }

  async list(): Promise<FleetRecord[]> {
    const found = (await this.redis.run(LIST, KEYS, [])) as string[]
    return Array.from({ length: found.length / 3 }, (_, i) => {
      const [id = '', text = '', age] = found.slice(3 * i)
      return { id, text: text.slice(text.indexOf(' ') + 1), ageMs: Number(age) }
    })
  }
}
