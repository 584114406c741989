/** What a process tells of itself, as stored. */
export interface FleetRecord {
  id: string
  text: string
  /** How long ago it was announced, by the clock of the store. */
  ageMs: number
}

/** The most records that one read returns, and about as many as an engine keeps. */
export const MAX_PROCESSES = 1000
/** The most bytes of a record. One of up to 1 KB costs one write unit on DynamoDB. */
export const MAX_RECORD_BYTES = 4096

/**
 * Where the processes of a store find each other: one small record for each, which expires unless it is announced
 * again. Nothing else depends on it, so an engine may lose it at any time.
 */
export interface FleetStore {
  /** How often a process announces itself, and for how long a record lasts. */
  readonly announceMs: number
  readonly expireMs: number
  /** Stores or replaces the record of a process. */
  announce(id: string, text: string, expireMs: number, now: number): Promise<void>
  /** Removes the record of a process that ends. */
  leave(id: string): Promise<void>
  /** All records that have not expired, in any order. */
  list(now: number): Promise<FleetRecord[]>
}
