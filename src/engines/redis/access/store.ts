import { LIFTED_MARK, LOCKED_MARK, MARK_NAME, storedKeys } from '../../../guards/access/lock-mark.js'
import type { KeyChange, KeyRecord, KeyStore, StoredKeys } from '../../../guards/access/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { API_KEYS_KEY } from './keys.js'

const ADD = defineScript('api-key-add', { keys: 1, write: true })
const REMOVE = defineScript('api-key-remove', { keys: 1, write: true })
const CHANGE = defineScript('api-key-change', { keys: 1, write: true, repeatable: true })
const UNLOCK = defineScript('api-key-unlock', { keys: 1, write: true, repeatable: true })

export class RedisKeys implements KeyStore {
  constructor(private readonly redis: Redis) {}

  async add(record: KeyRecord): Promise<boolean> {
    const args = [record.name, JSON.stringify(record), MARK_NAME, JSON.stringify(LOCKED_MARK)]
    return (await this.redis.run(ADD, [API_KEYS_KEY], args)) === 1
  }

  async list(): Promise<StoredKeys> {
    return readKeys(this.redis)
  }

  async remove(name: string): Promise<boolean> {
    const args = [name, MARK_NAME, JSON.stringify(LOCKED_MARK)]
    return (await this.redis.run(REMOVE, [API_KEYS_KEY], args)) === 1
  }

  async change(name: string, hash: string, change: KeyChange): Promise<boolean> {
    return (await this.redis.run(CHANGE, [API_KEYS_KEY], [name, hash, JSON.stringify(change)])) === 1
  }

  async unlock(): Promise<boolean> {
    const args = [MARK_NAME, JSON.stringify(LIFTED_MARK)]
    return (await this.redis.run(UNLOCK, [API_KEYS_KEY], args)) === 1
  }
}

export async function readKeys(redis: Redis): Promise<StoredKeys> {
  const texts = (await redis.read(API_KEYS_KEY, ['HVALS', API_KEYS_KEY])) as string[]
  const rows = texts.map((text) => JSON.parse(text) as KeyRecord)
  return storedKeys(rows.sort((a, b) => (a.name < b.name ? -1 : 1)))
}
