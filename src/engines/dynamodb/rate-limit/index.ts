import type { LimitSplit } from '../defaults.js'
import type { LimitClock } from '../options.js'

export type { LimitClock } from '../options.js'

import type { LimitEngine } from '../../../guards/rate-limit/port.js'
import { DynamodbLimitConfigs } from './configs.js'
import { DynamodbLimits } from './counters.js'
import { DecidingClock } from './deciding-clock.js'
import { NoticeLog } from './notice-log.js'
import { Notices } from './notices.js'
import { SplitCounters } from './split-counters.js'
import type { LimitTable } from './table.js'
import { DynamodbUsage } from './usage.js'

export interface OpenLimits extends LimitEngine {
  close(): Promise<void>
}

interface LimitParts extends LimitTable {
  clock: LimitClock
  /** Subjects that are stored in several parts. */
  splits?: readonly LimitSplit[]
  /** The clock of this process, and its offset to the server's. */
  server: { now: () => number; offsetMs(): number }
}

export function openLimits({ clock, server, splits = [], ...guards }: LimitParts): OpenLimits {
  const times = new DecidingClock(clock, server)
  const notices = new Notices(new NoticeLog(guards, () => times.at(server.now())))
  // The first response shows how far the clock is off.
  const begin = async () => void (await notices.log.heads())
  const counters = new DynamodbLimits(guards, times, notices, begin)
  return {
    counters: splits.length === 0 ? counters : new SplitCounters(counters, splits),
    configs: new DynamodbLimitConfigs(guards, notices),
    usage: new DynamodbUsage(guards),
    close: () => notices.close(),
  }
}
