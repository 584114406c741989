import type { LockScene } from '../../src/conformance/index.js'
import type { Redis } from '../../src/engines/redis/link/redis.js'
import { assembleScript } from '../../src/engines/redis/link/script.js'
import { fenceKey, lockKey, waitingKey } from '../../src/engines/redis/lock/keys.js'
import type { LockStore } from '../../src/guards/lock/port.js'

/** Nobody can move the clock of a server; what its keys have left to live can be moved. */
const AGE = assembleScript('age', { keys: 1, write: true }, () => {
  return `return function(keys, args)
    local left = redis.call('PTTL', keys[1])
    if left >= 0 then redis.call('PEXPIRE', keys[1], left - args[1]) end
  end`
})

async function age(redis: Redis, ms: number): Promise<void> {
  const found = await redis.readEverywhere(['KEYS', '*'])
  const keys = [...found.values()].flatMap((names) => names as string[])
  await Promise.all(keys.map((key) => redis.run(AGE, [key], [String(ms)])))
}

async function forget(redis: Redis, name: string): Promise<void> {
  const key = lockKey(name)
  await redis.write(key, ['DEL', key, fenceKey(key), waitingKey(key)])
}

export const lockScene = (locks: LockStore, redis: Redis): LockScene => ({
  locks,
  now: Date.now,
  elapse: (ms) => age(redis, ms),
  lose: (lock) => forget(redis, lock),
})
