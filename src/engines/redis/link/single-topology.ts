import { type Address, nameOf } from './address.js'
import type { Connection, ConnectionSettings } from './connection.js'
import { Pool } from './reconnecting-connection.js'
import type { OnChange, Topology } from './topology.js'

/** All keys on one server. */
export class SingleTopology implements Topology {
  private readonly pool: Pool

  constructor(
    private readonly address: Address,
    settings: ConnectionSettings,
    poolSize: number,
    onChange: OnChange,
  ) {
    this.pool = new Pool({ settings, locate: () => address, onUp: onChange, onDown: onChange }, poolSize)
  }

  slot(): number {
    return 0
  }

  connection(): Connection | undefined {
    return this.pool.connection
  }

  outage(): { reason: string; sinceMs: number } {
    return { reason: this.pool.reason, sinceMs: this.pool.downSinceMs }
  }

  /** Only a cluster replies MOVED. Then the URL has the wrong scheme, and the error says so. */
  moved(): void {}

  asked(): undefined {}

  /** There is no other server, so the same one is tried again. */
  notPrimary(): void {}

  primaries(): Map<string, Connection | undefined> {
    const connection = this.pool.connection
    return new Map([[connection === undefined ? 'unknown' : nameOf(connection.address), connection]])
  }

  listenerAddress(): Address {
    return this.address
  }

  close(): void {
    this.pool.close()
  }
}
