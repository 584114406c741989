import type { LimitEngine } from '../../../guards/rate-limit/port.js'
import { DynamodbLimitConfigs } from './configs.js'
import { DynamodbLimits } from './counters.js'
import { DecidingClock, type LimitClock } from './deciding-clock.js'
import { NoticeLog } from './notice-log.js'
import { Notices } from './notices.js'
import type { LimitTable } from './table.js'
import { DynamodbUsage } from './usage.js'

export type { LimitClock } from './deciding-clock.js'

export interface OpenLimits extends LimitEngine {
  close(): Promise<void>
}

export interface LimitParts extends LimitTable {
  clock: LimitClock
  /** The clock of this process, and its offset to the server's. */
  server: { now: () => number; offsetMs(): number }
}

export function openLimits({ clock, server, ...guards }: LimitParts): OpenLimits {
  const times = new DecidingClock(clock, server)
  const notices = new Notices(new NoticeLog(guards, () => times.at(server.now())))
  // The first response shows how far the clock is off.
  const begin = async () => void (await notices.log.heads())
  return {
    counters: new DynamodbLimits(guards, times, notices, begin),
    configs: new DynamodbLimitConfigs(guards, notices),
    usage: new DynamodbUsage(guards),
    close: () => notices.close(),
  }
}
