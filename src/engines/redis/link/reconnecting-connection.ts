import { later } from '../../../core/timers.js'
import { type Address, nameOf } from './address.js'
import { Connection, type ConnectionSettings } from './connection.js'
import { describeFailure } from './failures.js'

interface ReconnectingOptions {
  settings: ConnectionSettings
  /** Where to connect; called for each attempt. */
  locate: () => Address | Promise<Address>
  /** Default: `Connection.open`. */
  open?: typeof Connection.open
  /** Checks a new connection, and throws if it must not be used. */
  welcome?: (connection: Connection) => Promise<void>
  onUp?: (connection: Connection) => void
  /** The connection was lost, or an attempt to get one failed. */
  onDown?: (reason: string) => void
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2000

/** Maintains one connection: after a loss it reconnects, with growing pauses of random length, without end. */
export class ReconnectingConnection {
  private current: Connection | undefined
  private closed = false
  private failures = 0
  private retry: NodeJS.Timeout | undefined
  private lostAtMs = performance.now()
  private lastReason = 'not connected yet'

  constructor(private readonly kept: ReconnectingOptions) {
    void this.connect()
  }

  get connection(): Connection | undefined {
    return this.current
  }

  get downSinceMs(): number {
    return this.lostAtMs
  }

  get reason(): string {
    return this.lastReason
  }

  close(): void {
    this.closed = true
    clearTimeout(this.retry)
    this.current?.close()
    this.current = undefined
    this.lastReason = 'this instance is closed'
  }

  /** Lets calls in flight finish and opens no new connection. */
  retire(afterMs: number): void {
    this.closed = true
    clearTimeout(this.retry)
    later(() => this.close(), afterMs).unref()
  }

  private async connect(): Promise<void> {
    this.retry = undefined
    let opened: Connection | undefined
    let where: string | undefined
    try {
      const address = await this.kept.locate()
      where = nameOf(address)
      opened = await (this.kept.open ?? Connection.open)(address, this.kept.settings)
      await this.kept.welcome?.(opened)
      if (!opened.usable) throw new Error('the connection was lost at once')
    } catch (error) {
      opened?.close()
      const told = describeFailure(error, this.kept.settings.password)
      this.lost(where === undefined || told.includes(where) ? told : `${where}: ${told}`)
      return
    }
    if (this.closed) {
      opened.close()
      return
    }
    this.failures = 0
    this.current = opened
    opened.onLost = (reason) => {
      this.current = undefined
      this.lostAtMs = performance.now()
      this.lost(describeFailure(new Error(reason), this.kept.settings.password))
    }
    this.kept.onUp?.(opened)
  }

  private lost(reason: string): void {
    if (this.closed) return
    this.lastReason = reason
    this.kept.settings.onFailure()
    const longestMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.failures++, 10))
    this.retry = later(() => this.connect(), Math.random() * longestMs)
    this.kept.onDown?.(reason)
  }
}

/** Connections to one server. Calls use the least busy one. */
export class Pool {
  private readonly links: ReconnectingConnection[]

  constructor(kept: ReconnectingOptions, size: number) {
    this.links = Array.from({ length: size }, () => new ReconnectingConnection(kept))
  }

  get connection(): Connection | undefined {
    const [first] = this.links
    if (this.links.length === 1) return first!.connection
    let best: Connection | undefined
    for (const { connection } of this.links) {
      if (connection !== undefined && !(best !== undefined && best.inFlight <= connection.inFlight))
        best = connection
    }
    return best
  }

  /** Since when there is no connection at all. Not meaningful while there is one. */
  get downSinceMs(): number {
    return Math.max(...this.links.map((link) => link.downSinceMs))
  }

  get reason(): string {
    return this.links[0]!.reason
  }

  retire(afterMs: number): void {
    for (const link of this.links) link.retire(afterMs)
  }

  close(): void {
    for (const link of this.links) link.close()
  }
}
