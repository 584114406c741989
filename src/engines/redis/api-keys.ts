import type { KeyRecord, KeyStore } from '../../access/port.js'
import { API_KEYS_KEY } from './allowlist/keys.js'
import type { Redis } from './link/redis.js'

export class RedisKeys implements KeyStore {
  constructor(private readonly redis: Redis) {}

  async add(record: KeyRecord): Promise<boolean> {
    const args = ['HSETNX', API_KEYS_KEY, record.name, JSON.stringify(record)]
    return (await this.redis.write(API_KEYS_KEY, args)) === 1
  }

  async list(): Promise<KeyRecord[]> {
    const texts = (await this.redis.read(API_KEYS_KEY, ['HVALS', API_KEYS_KEY])) as string[]
    return texts.map((text) => JSON.parse(text) as KeyRecord).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async remove(name: string): Promise<boolean> {
    return (await this.redis.write(API_KEYS_KEY, ['HDEL', API_KEYS_KEY, name])) === 1
  }
}
