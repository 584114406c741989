import type { Address } from './address.js'
import type { Connection } from './connection.js'

/** Which server has which key, and the connections to the servers. */
export interface Topology {
  slot(key: string): number
  /** The connection for the keys of a slot, if there is one. */
  connection(slot: number): Connection | undefined
  /** Why there is no connection, and since when. */
  outage(slot: number): { reason: string; sinceMs: number }
  /** MOVED: the slot belongs to another server. */
  moved(slot: number, target: Address): void
  /** ASK: one command goes to another server while the slot is being moved. */
  asked(target: Address): Connection | undefined
  /** A server reported that it is not a primary. */
  notPrimary(connection: Connection): void
  /** One for each primary; undefined if it is not connected. */
  primaries(): Map<string, Connection | undefined>
  /** For subscriptions: a server that receives all messages. */
  listenerAddress(): Address
  /** Checks a new connection for subscriptions. */
  welcomeListener?(connection: Connection): Promise<void>
  close(): void
}

/** A connection opened or was lost, or slots moved: waiting calls may be sent now. */
export type OnChange = () => void
