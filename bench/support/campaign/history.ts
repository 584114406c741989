/** One call of a pod. Times are milliseconds of the monotonic clock that all processes of a machine share. */
export interface Told {
  lane: Lane
  pod: number
  /** What the call was about. */
  key: string
  beganMs: number
  endedMs: number
  /** What came of it, by lane: see the checkers. */
  [fact: string]: string | number | boolean
}

export const LANES = [
  'allowlists',
  'limits',
  'local',
  'idempotency',
  'locks',
  'codes',
  'cache',
  'audit',
] as const
export type Lane = (typeof LANES)[number]

export const nowMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000

/** From the campaign to a pod. */
export type ToPod =
  | { type: 'verify'; id: number; customer: string; token: string }
  | { type: 'stop' }
  | { type: 'clock'; offsetMs: number }
  | { type: 'verified'; id: number; allowed: boolean; degraded: boolean; failed: boolean }

/** From a pod to the campaign. */
export type FromPod =
  | { type: 'ready' }
  | { type: 'told'; events: Told[] }
  | { type: 'verify'; id: number; customer: string; token: string }
  | { type: 'verified'; id: number; allowed: boolean; degraded: boolean; failed: boolean }
  | { type: 'done'; calls: number; failures: Record<string, number> }
  | { type: 'failed'; message: string }

export interface PodPlan {
  pod: number
  store: string
  /** A directory that all pods share: the source that caches load from. */
  source: string
  isDynamo: boolean
}

/** The limits that all pods share. */
export const LIMITS = { capacity: 60, periodMs: 4000, localShare: 0.25 }
export const LOCK_TTL_MS = 2500
/** How long a first tier may serve what was invalidated elsewhere. */
export const CACHE_LAG_MS = 2500
