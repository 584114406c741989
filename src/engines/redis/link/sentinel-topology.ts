import { type Address, nameOf } from './address.js'
import type { Connection, ConnectionSettings } from './connection.js'
import { Pool } from './reconnecting-connection.js'
import { isSame } from './sentinel-views.js'
import { Sentinels } from './sentinels.js'
import type { OnChange, Topology } from './topology.js'

/** If no Sentinel named the master for this long, the Sentinels are queried before anything else is sent to it. */
const NAMED_FOR_MS = 2500

/**
 * The master that the Sentinels name (ADR 30). A master that was replaced while it was stopped still believes that it
 * is the master. So connections to other servers are dropped as soon as a Sentinel names a new master. The Sentinels
 * must confirm every new connection, and every connection whose server was silent.
 */
export class SentinelTopology implements Topology {
  private readonly sentinels: Sentinels
  private readonly links = new Set<Connection>()
  private readonly bornMs = performance.now()
  private pool: Pool | undefined
  private asking = false
  /** When no Sentinel answered. The connection is used until one does. */
  private unansweredMs = Number.NEGATIVE_INFINITY

  constructor(
    sentinels: readonly Address[],
    master: string,
    private readonly settings: ConnectionSettings,
    private readonly poolSize: number,
    private readonly onChange: OnChange,
  ) {
    this.sentinels = new Sentinels(sentinels, master, settings, {
      onNamed: (address) => this.follow(address),
      onAllLost: onChange,
    })
  }

  slot(): number {
    return 0
  }

  connection(): Connection | undefined {
    const { heardMs } = this.sentinels
    const isNamed = performance.now() - heardMs < NAMED_FOR_MS || this.unansweredMs > heardMs
    if (isNamed) return this.pool?.connection
    this.askAgain()
    return undefined
  }

  outage(): { reason: string; sinceMs: number } {
    if (this.pool === undefined) return { reason: this.sentinels.reason, sinceMs: this.bornMs }
    return this.pool.connection === undefined
      ? { reason: this.pool.reason, sinceMs: this.pool.downSinceMs }
      : { reason: 'the Sentinels are asked for the master', sinceMs: performance.now() }
  }

  /** Only a cluster replies MOVED. Then the URL has the wrong scheme, and the error says so. */
  moved(): void {}

  asked(): undefined {}

  notPrimary(connection: Connection): void {
    connection.drop('the server is no longer the master')
    void this.sentinels.ask()
  }

  primaries(): Map<string, Connection | undefined> {
    const connection = this.pool?.connection
    return new Map([[connection === undefined ? 'unknown' : nameOf(connection.address), connection]])
  }

  listenerAddress(): Address {
    if (this.sentinels.named === undefined) throw new Error(this.sentinels.reason)
    return this.sentinels.named
  }

  welcomeListener(connection: Connection): Promise<void> {
    return this.welcome(connection)
  }

  close(): void {
    this.sentinels.close()
    this.pool?.close()
  }

  /** Opens new connections at once: those in progress may hang at a stopped server. */
  private follow(address: Address): void {
    const { settings, onChange } = this
    const old = this.pool
    this.pool = new Pool(
      {
        ...{ settings, onUp: onChange, onDown: onChange },
        locate: () => address,
        welcome: (connection) => this.welcome(connection),
      },
      this.poolSize,
    )
    for (const link of this.links) {
      if (!isSame(link.address, address)) link.drop(`the Sentinels name ${nameOf(address)} as master`)
    }
    old?.close()
    onChange()
  }

  private async welcome(connection: Connection): Promise<void> {
    const deadlineMs = performance.now() + this.settings.commandTimeoutMs
    const [role] = (await connection.ask(['ROLE'], deadlineMs)) as [string]
    // A former master that restarted as a replica is still found at its address until the Sentinels know.
    if (role !== 'master') throw new Error(`${nameOf(connection.address)} is a ${role}, not the master`)
    // It may have been replaced while this connection was opened.
    await this.confirm(connection)
    connection.confirm = () => this.confirm(connection)
    for (const link of this.links) if (!link.usable) this.links.delete(link)
    this.links.add(connection)
  }

  /** Rejects unless the Sentinels, queried now, name the server of this connection. */
  private async confirm({ address }: Connection): Promise<void> {
    if ((await this.sentinels.ask()) === 0) throw new Error(this.sentinels.reason)
    const { named } = this.sentinels
    if (isSame(address, named)) return
    throw new Error(`the Sentinels name ${nameOf(named!)} as master, not ${nameOf(address)}`)
  }

  /** If no Sentinel answers, a master that answers stays in use: missing Sentinels must not stop a working master. */
  private askAgain(): void {
    if (this.asking) return
    this.asking = true
    void this.sentinels.ask().then((answers) => {
      this.asking = false
      if (answers === 0) this.unansweredMs = performance.now()
      this.onChange()
    })
  }
}
