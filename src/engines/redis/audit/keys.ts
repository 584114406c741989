import { dayName } from '../../../guards/audit/entry-id.js'
import { PREFIX } from '../keys.js'

/** Each day has its own slot, so that the trail spreads over a cluster. */
export const dayKey = (day: number): string => `${PREFIX.audit}:${dayName(day)}`
