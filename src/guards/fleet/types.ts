/** What a process tells of itself. */
export interface ProcessFacts {
  /** Of the machine or pod. */
  name: string
  pid: number
  version: string
  /** The engine of its main store. */
  engine: string
  /** ISO 8601. */
  startedAt: string
  /** Lists in memory, and those of them that are or may be too far behind to answer. */
  lists: number
  staleLists: number
  /** How far the image that is furthest behind may be behind the store. */
  feedLagMs: number
  /** Over the last seconds. Absent if the process does not count checks. */
  checksPerSecond?: number
  /** Of the last minute: checks, calls to the store that failed, and degraded answers. */
  lastMinute: { checks: number; errors: number; degraded: number }
  /** Ids of the lists in memory, as far as there is room. */
  followed: string[]
}

export interface FleetProcess extends ProcessFacts {
  /** Made at the start of the process. */
  id: string
  /** How long ago it was heard of. */
  seenMsAgo: number
}

/** The sums over all processes of the store. */
export interface FleetSums {
  processes: number
  checksPerSecond: number
  errorsLastMinute: number
  degradedLastMinute: number
  staleLists: number
  /** The largest. */
  feedLagMs: number
}

export interface FleetView {
  /** False: this process neither announces itself nor asks for the others. */
  enabled: boolean
  /** Id of the process that answers, if it is one of them. */
  self?: string
  /** A process that died is gone after this time. */
  expireMs: number
  processes: FleetProcess[]
  sums: FleetSums
  /** Most common first. More than one: a deployment is under way, or was left halfway. */
  versions: { version: string; processes: number }[]
  /** Lists that some processes have in memory and others do not, with the ids of the latter. */
  notFollowed: { allowlistId: string; processes: string[] }[]
}

/** The fleet. The library implements it, and a server over HTTP. */
export interface FleetApi {
  list(): Promise<FleetView>
}

export interface FleetOptions {
  /** Whether the other processes can be asked for. */
  enabled: boolean
  /** Whether this process announces itself. */
  announce: boolean
  /** The name that others see. */
  name: string | undefined
}

export const DEFAULT_FLEET: FleetOptions = { enabled: true, announce: false, name: undefined }
