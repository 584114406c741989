import type { OpenOptions } from '../../src/app/open-catraca.js'

export const LIST = 'vip'
export const RESOURCE = 'api'
export const OPERATION = 'PAY'
export const LOCK = 'shared'
export const SPACE = 'prices'
export const ADDRESS_DOMAIN = '@example.com'
export const TOKENS_UNTIL = '2099-01-01T00:00:00Z'

const YEAR_SECONDS = 366 * 24 * 3600
const CAPACITY = 150

/** Nothing comes back while the proof runs, so that what both admit together can be counted exactly. */
export const LIMITS = {
  bucket: { capacity: CAPACITY, refillAmount: 1, refillPeriodSeconds: YEAR_SECONDS },
  sliding: {
    capacity: CAPACITY,
    refillAmount: CAPACITY,
    refillPeriodSeconds: YEAR_SECONDS,
    algorithm: 'sliding-window',
  },
  fixed: {
    capacity: CAPACITY,
    refillAmount: CAPACITY,
    refillPeriodSeconds: YEAR_SECONDS,
    algorithm: 'fixed-window',
  },
} as const

/** What a version did, for the other one to see and for the count at the end. */
export type Deed =
  | { kind: 'added'; id: string; token: string; stays: boolean }
  | { kind: 'removed'; id: string; token: string }
  | { kind: 'acquired'; limit: string }
  | { kind: 'given-back'; limit: string }
  | { kind: 'executed'; key: string }
  | { kind: 'answered'; key: string; value: string }
  | { kind: 'held'; fence: number; fromNs: string; untilNs: string }
  | { kind: 'code'; address: string; code: string }
  | { kind: 'revoked'; jti: string }
  | { kind: 'cached'; key: string; value: number }

export type SideAsked =
  | { type: 'open'; side: string; entry: string; options: OpenOptions }
  | { type: 'work'; ms: number }
  | { type: 'deed'; deed: Deed }
  | { type: 'end' }

export type SideSaid =
  | { type: 'opened' }
  | { type: 'deed'; deed: Deed }
  | { type: 'worked'; deeds: number }
  | { type: 'closed' }
