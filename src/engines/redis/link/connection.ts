import { createClient, RESP_TYPES } from '@redis/client'
import { every, later } from '../../../core/timers.js'
import { type Address, nameOf } from './address.js'
import { type CallInFlight, CallsInFlight } from './calls-in-flight.js'
import type { CommandTimes } from './command-times.js'
import { isErrorReply, NoReply } from './failures.js'
import type { RedisTlsOptions } from './options.js'
import type { Argument } from './redis.js'

export interface ConnectionSettings {
  connectTimeoutMs: number
  commandTimeoutMs: number
  maxInFlight: number
  /** undefined: no TLS. */
  tls: RedisTlsOptions | undefined
  username?: string
  readonly password: string | undefined
  database: number
  /** Called for every connection that failed or was lost. */
  onFailure: () => void
  /** Records response times; undefined for servers that do not belong to the store. */
  times?: CommandTimes | undefined
}

type Client = ReturnType<typeof newClient>

const TEXT = { timeout: 0, typeMapping: { [RESP_TYPES.MAP]: Map } }
const BINARY = { timeout: 0, typeMapping: { ...TEXT.typeMapping, [RESP_TYPES.BLOB_STRING]: Buffer } }
const SWEEPS_PER_TIMEOUT = 40
const SHORTEST_SWEEP_MS = 5
/** A server that was silent for this long may have been replaced meanwhile. */
const DOUBTED_AFTER_MS = 1000

/**
 * One connection: it is opened, used, and lost once. After a loss, its owner opens a new one.
 *
 * Deadlines are enforced here and not by the client library. The library's timeout ends when a command is written, so
 * a stopped server would hang every call for ever. It also costs an AbortSignal per command, and most of the
 * throughput (ADR 11).
 */
export class Connection {
  private readonly flights = new CallsInFlight()
  private readonly sweepMs: number
  private readonly binary: Client
  private sweeper: NodeJS.Timeout | undefined
  private answers = 0
  private answersSeen = 0
  private silentSinceMs = 0
  private lost = false
  /** The server was silent. Its replies are held back until `confirm` resolves. */
  private doubted = false
  private confirming: Promise<void> | undefined

  /** Called before the first replies after a silence are accepted. If it rejects, the connection is dropped. */
  confirm: (() => Promise<void>) | undefined
  /** Called once when the connection is lost, not when it is closed. */
  onLost: (reason: string) => void = () => {}

  private constructor(
    readonly address: Address,
    private readonly client: Client,
    private readonly settings: ConnectionSettings,
  ) {
    this.binary = client.withCommandOptions(BINARY) as unknown as Client
    this.sweepMs = Math.max(SHORTEST_SWEEP_MS, settings.commandTimeoutMs / SWEEPS_PER_TIMEOUT)
  }

  static async open(address: Address, settings: ConnectionSettings): Promise<Connection> {
    const client = newClient(address, settings)
    const connection = new Connection(address, client, settings)
    client.on('error', (error: Error) => connection.lose(error.message))
    const { promise: late, timer } = rejectLater(settings.connectTimeoutMs, address)
    try {
      // The client limits the time to connect, but not the handshake after it.
      await Promise.race([client.connect(), late])
      return connection
    } catch (error) {
      connection.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  get usable(): boolean {
    return !this.lost
  }

  get inFlight(): number {
    return this.flights.size
  }

  /** Ends at the deadline at the latest. */
  send(flight: CallInFlight): void {
    if (this.lost || this.flights.size >= this.settings.maxInFlight) {
      const reason = this.lost ? 'the connection was lost' : 'too many calls wait for an answer'
      flight.onFailure(new NoReply('not-sent', reason))
      return
    }
    const place = this.flights.add(flight)
    if (this.sweeper === undefined) this.startSweeping()
    // Options of the client, because options of a single command cost as much as the rest of the command.
    const client = flight.binary ? this.binary : this.client
    const sentMs = performance.now()
    client.sendCommand(flight.args).then(
      (reply) => {
        this.answered(flight, sentMs)
        if (this.doubted) void this.confirmed().then(() => this.flights.take(place) && flight.onReply(reply))
        else if (this.flights.take(place)) flight.onReply(reply)
      },
      (error: unknown) => {
        const answered = isErrorReply(error)
        if (answered) this.answered(flight, sentMs)
        if (this.flights.take(place)) flight.onFailure(answered ? error : lostBy(error))
      },
    )
  }

  /** Sends one command, once. */
  ask(args: readonly Argument[], deadlineMs: number, binary = false): Promise<unknown> {
    return new Promise((onReply, onFailure) => this.send({ args, binary, deadlineMs, onReply, onFailure }))
  }

  async subscribe(channel: string, onMessage: (message: string) => void): Promise<void> {
    await this.client.subscribe(channel, onMessage)
  }

  async unsubscribe(channel: string): Promise<void> {
    if (!this.lost) await this.client.unsubscribe(channel)
  }

  /** Drops the connection as if the server had closed it. Its owner opens another. */
  drop(reason: string): void {
    this.lose(reason)
  }

  close(): void {
    this.onLost = () => {}
    this.lose('this instance is closed')
  }

  private lose(reason: string): void {
    if (this.lost) return
    this.lost = true
    clearInterval(this.sweeper)
    for (const flight of this.flights.takeAll()) flight.onFailure(new NoReply('lost', reason))
    this.client.destroy()
    this.onLost(reason)
  }

  private answered({ args }: CallInFlight, sentMs: number): void {
    this.answers++
    this.settings.times?.add(args[0] as string, performance.now() - sentMs)
  }

  /** Resolves when replies may be accepted. Otherwise all calls in flight end as lost. */
  private confirmed(): Promise<void> {
    this.confirming ??= this.confirm!()
      .then(
        () => {
          this.doubted = false
        },
        (error: unknown) => this.lose(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        this.confirming = undefined
      })
    return this.confirming
  }

  private startSweeping(): void {
    this.silentSinceMs = performance.now()
    this.sweeper = every(() => this.sweep(), this.sweepMs)
    // The open socket already keeps the process alive.
    this.sweeper.unref()
  }

  private sweep(): void {
    if (this.flights.size === 0) {
      clearInterval(this.sweeper)
      this.sweeper = undefined
      return
    }
    const now = performance.now()
    if (this.answers !== this.answersSeen) {
      this.answersSeen = this.answers
      this.silentSinceMs = now
    }
    const silentMs = now - this.silentSinceMs
    if (silentMs >= DOUBTED_AFTER_MS && this.confirm !== undefined) this.doubted = true
    const late = this.flights.takeLate(now)
    for (const flight of late) {
      flight.onFailure(new NoReply('timed-out', `none within ${this.settings.commandTimeoutMs} ms`))
    }
    // If single replies are late, the server is busy. Silence may mean a dead connection that is never closed.
    if (late.length > 0 && silentMs >= this.settings.commandTimeoutMs - 2 * this.sweepMs) {
      this.lose(`silent for ${Math.round(silentMs)} ms`)
    }
  }
}

const lostBy = (error: unknown): NoReply =>
  new NoReply('lost', error instanceof Error ? error.message : String(error))

function rejectLater(ms: number, address: Address): { promise: Promise<never>; timer: NodeJS.Timeout } {
  let timer!: NodeJS.Timeout
  const promise = new Promise<never>((_, reject) => {
    timer = later(() => reject(new Error(`${nameOf(address)} did not answer within ${ms} ms`)), ms)
  })
  promise.catch(() => {})
  return { promise, timer }
}

/**
 * For each new address the library builds a class with every Redis command. That blocks the process for tens of
 * milliseconds, just when a cluster fails over. So one client is created that never connects, and all others are
 * duplicates of it.
 */
let pattern: ReturnType<typeof newPattern> | undefined

const newPattern = () =>
  createClient({
    RESP: 3,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandOptions: TEXT,
  })

function newClient({ host, port }: Address, settings: ConnectionSettings) {
  const { connectTimeoutMs, tls, username, password, database } = settings
  pattern ??= newPattern()
  return pattern.duplicate({
    socket: {
      host,
      port,
      connectTimeout: connectTimeoutMs,
      // The owner of the connection opens the next one, possibly to another server.
      reconnectStrategy: false,
      ...(tls === undefined ? {} : { tls: true as const, ...tls }),
    },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
  })
}
