import { type Address, nameOf } from './address.js'
import type { Connection, ConnectionSettings } from './connection.js'
import { Pool } from './keeper.js'
import type { OnChange, Topology } from './topology.js'

/** How the one server for everything is found. */
export interface Lead {
  locate: () => Address | Promise<Address>
  /** Throws when the connection does not lead to a server that takes writes. */
  welcome?: (connection: Connection) => Promise<void>
}

/** All keys on one server: a fixed one, or the master that Sentinels name. */
export class SingleTopology implements Topology {
  readonly #pool: Pool

  constructor(
    private readonly lead: Lead,
    settings: ConnectionSettings,
    poolSize: number,
    onChange: OnChange,
  ) {
    this.#pool = new Pool({ settings, ...lead, onUp: onChange, onDown: onChange }, poolSize)
  }

  slot(): number {
    return 0
  }

  connection(): Connection | undefined {
    return this.#pool.connection
  }

  outage(): { reason: string; sinceMs: number } {
    return { reason: this.#pool.reason, sinceMs: this.#pool.downSinceMs }
  }

  /** Only a cluster says MOVED; the URL names it wrongly, and the refusal tells so. */
  moved(): void {}

  asked(): undefined {}

  notPrimary(connection: Connection): void {
    // A fixed server that turned into a replica is asked again; behind Sentinels the next connection finds the master.
    if (this.lead.welcome !== undefined) connection.drop('the server is no longer the master')
  }

  primaries(): Map<string, Connection | undefined> {
    const connection = this.#pool.connection
    return new Map([[connection === undefined ? 'unknown' : nameOf(connection.address), connection]])
  }

  listeningPost(): Address | Promise<Address> {
    return this.lead.locate()
  }

  async welcomeListener(connection: Connection): Promise<void> {
    await this.lead.welcome?.(connection)
  }

  close(): void {
    this.#pool.close()
  }
}
