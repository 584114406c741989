import { every } from '../../../core/timers.js'
import type { Connection, ConnectionSettings } from './connection.js'
import { describeFailure, unavailable } from './failures.js'
import { inTime } from './in-time.js'
import { ReconnectingConnection } from './reconnecting-connection.js'
import type { Interruption, Unsubscribe } from './redis.js'
import type { Topology } from './topology.js'

interface Subscriber {
  onMessage: (message: string) => void
  onInterrupted: (interruption: Interruption) => void
}

/** Pub/sub on a separate connection, which the first subscription opens. */
export class Subscriptions {
  private readonly channels = new Map<string, Set<Subscriber>>()
  /** Channels that are subscribed to on the current connection. */
  private readonly told = new Set<string>()
  private interrupted = false
  private link: ReconnectingConnection | undefined
  private connection: Connection | undefined
  private pulse: NodeJS.Timeout | undefined
  private firstUp: (() => void)[] = []

  constructor(
    private readonly topology: Topology,
    private readonly settings: ConnectionSettings,
  ) {}

  async subscribe(channel: string, subscriber: Subscriber): Promise<Unsubscribe> {
    const subscribers = this.channels.get(channel) ?? new Set()
    this.channels.set(channel, subscribers.add(subscriber))
    try {
      if (this.link === undefined) this.open()
      await this.whenUp()
      await this.listen(this.connection!, channel)
    } catch (error) {
      await this.remove(channel, subscriber)
      throw unavailable(describeFailure(error, this.settings.password))
    }
    return () => this.remove(channel, subscriber)
  }

  close(): void {
    clearInterval(this.pulse)
    this.channels.clear()
    this.link?.close()
    this.connection = undefined
  }

  private open(): void {
    this.link = new ReconnectingConnection({
      settings: this.settings,
      locate: () => this.topology.listenerAddress(),
      welcome: (connection) => this.welcome(connection),
      onUp: (connection) => this.resumed(connection),
      onDown: () => this.lost(),
    })
    // A connection that only receives does not notice that the server is unreachable.
    this.pulse = every(() => this.beat(), this.settings.commandTimeoutMs)
    this.pulse.unref()
  }

  private beat(): void {
    this.connection?.ask(['PING'], performance.now() + this.settings.commandTimeoutMs).catch(() => {})
  }

  private async welcome(connection: Connection): Promise<void> {
    await this.topology.welcomeListener?.(connection)
    this.told.clear()
    for (const channel of this.channels.keys()) await this.listen(connection, channel)
  }

  private async listen(connection: Connection, channel: string): Promise<void> {
    if (this.told.has(channel)) return
    this.told.add(channel)
    await inTime(
      connection.subscribe(channel, (message) => {
        for (const { onMessage } of this.channels.get(channel) ?? []) onMessage(message)
      }),
      this.settings.commandTimeoutMs,
      connection,
    )
  }

  private resumed(connection: Connection): void {
    this.connection = connection
    for (const resolve of this.firstUp) resolve()
    this.firstUp = []
    if (this.interrupted) this.tell('resumed')
    this.interrupted = false
  }

  private lost(): void {
    const wasUp = this.connection !== undefined
    this.connection = undefined
    if (!wasUp) return
    this.interrupted = true
    this.tell('lost')
  }

  private tell(interruption: Interruption): void {
    for (const subscribers of this.channels.values()) {
      for (const { onInterrupted } of subscribers) onInterrupted(interruption)
    }
  }

  private whenUp(): Promise<void> | undefined {
    if (this.connection !== undefined) return undefined
    const up = new Promise<void>((resolve) => this.firstUp.push(resolve))
    return inTime(up, this.settings.connectTimeoutMs, undefined, () => this.link!.reason)
  }

  private async remove(channel: string, subscriber: Subscriber): Promise<void> {
    const subscribers = this.channels.get(channel)
    if (subscribers?.delete(subscriber) !== true || subscribers.size > 0) return
    this.channels.delete(channel)
    this.told.delete(channel)
    const connection = this.connection
    if (connection === undefined) return
    await inTime(connection.unsubscribe(channel), this.settings.commandTimeoutMs, connection).catch(() => {})
  }
}
