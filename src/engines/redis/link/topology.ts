import type { Address } from './address.js'
import type { Connection } from './connection.js'

/** Which server has which key, and connections to them. */
export interface Topology {
  slot(key: string): number
  /** The connection for the keys of a slot, when it is there. */
  connection(slot: number): Connection | undefined
  /** Why there is none, and since when. */
  outage(slot: number): { reason: string; sinceMs: number }
  /** MOVED: the slot belongs to another server. */
  moved(slot: number, target: Address): void
  /** ASK: one command goes to another server while the slot is on its way. */
  asked(target: Address): Connection | undefined
  /** A server said that it is not, or no longer, the one for writes. */
  notPrimary(connection: Connection): void
  /** One for each server that takes writes; undefined where there is no connection. */
  primaries(): Map<string, Connection | undefined>
  /** For subscriptions: a server that hears all messages. */
  listenerAddress(): Address
  /** Looks at a fresh connection for subscriptions. */
  welcomeListener?(connection: Connection): Promise<void>
  close(): void
}

/** A connection came up or was lost, or slots changed hands: who waits may look again. */
export type OnChange = () => void
