import type { LimitEngine } from '../../../guards/rate-limit/port.js'
import type { Redis } from '../link/redis.js'
import { RedisLimitConfigs } from './configs.js'
import { type LimitClock, RedisLimits } from './counters.js'
import { Notices } from './notices.js'
import { RedisUsage } from './usage.js'

export type { LimitClock } from './counters.js'

export interface OpenLimits extends LimitEngine {
  close(): Promise<void>
}

export async function openLimits(redis: Redis, database: number, clock: LimitClock): Promise<OpenLimits> {
  const notices = new Notices(redis, database)
  await notices.open()
  return {
    counters: new RedisLimits(redis, notices, clock),
    configs: new RedisLimitConfigs(redis, notices),
    usage: new RedisUsage(redis),
    close: () => notices.close(),
  }
}
