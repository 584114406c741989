import type { LogFollower } from '../../../core/numbered-log.js'
import type { Redis, Unsubscribe } from './redis.js'

/** The number of the last message that was published. */
export const lastNumber = async (redis: Redis, key: string): Promise<number> =>
  Number((await redis.read(key, ['GET', key])) ?? 0)

/**
 * Follows messages of the form `NUMBER TEXT`. Others are of another program, and are ignored. Resolves when messages
 * arrive and the last number is known.
 */
export async function followChannel(
  redis: Redis,
  channel: string,
  follower: LogFollower<string>,
): Promise<Unsubscribe> {
  const unsubscribe = await redis.subscribe(
    channel,
    (message) => {
      const [, number, text] = /^(\d+) (.*)$/s.exec(message) ?? []
      if (number !== undefined) follower.hear(Number(number), text!)
    },
    (interruption) => {
      if (interruption === 'lost') follower.interrupt()
      else follower.reconnect()
    },
  )
  try {
    await follower.start()
  } catch (error) {
    await follower.stop()
    await unsubscribe()
    throw error
  }
  return unsubscribe
}
