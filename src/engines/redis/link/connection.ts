import { RESP_TYPES } from '@redis/client/dist/lib/RESP/decoder.js'
import { every, later } from '../../../core/timers.js'
import { type Address, nameOf } from './address.js'
import { type CallInFlight, CallsInFlight } from './calls-in-flight.js'
import type { CommandTimes } from './command-times.js'
import { NoReply } from './failures.js'
import type { RedisTlsOptions } from './options.js'
import type { Argument } from './redis.js'
import { RespSocket, type TypeMapping } from './resp-socket.js'

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

const TEXT: TypeMapping = { [RESP_TYPES.MAP]: Map }
const BINARY: TypeMapping = { ...TEXT, [RESP_TYPES.BLOB_STRING]: Buffer }
const CONFIRMATIONS = new Set(['subscribe', 'unsubscribe'])
const SWEEPS_PER_TIMEOUT = 40
const SHORTEST_SWEEP_MS = 5
/** A server that was silent for this long may have been replaced meanwhile. */
const DOUBTED_AFTER_MS = 1000

/**
 * One connection: it is opened, used, and lost once. After a loss, its owner opens a new one.
 *
 * Every command gets exactly one reply, in the order of sending, so the place of a call is the number of its reply.
 */
export class Connection {
  private readonly flights = new CallsInFlight()
  private readonly socket: RespSocket
  private readonly sweepMs: number
  private readonly listeners = new Map<string, (message: string) => void>()
  private sweeper: NodeJS.Timeout | undefined
  /** Also the place of the call whose reply comes next. */
  private answers = 0
  private answersSeen = 0
  private silentSinceMs = 0
  private welcomed = false
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
    private readonly settings: ConnectionSettings,
  ) {
    this.sweepMs = Math.max(SHORTEST_SWEEP_MS, settings.commandTimeoutMs / SWEEPS_PER_TIMEOUT)
    this.socket = new RespSocket(address, settings.tls, {
      typeMapping: () => (this.flights.at(this.answers)?.binary === true ? BINARY : TEXT),
      onReply: (reply) => this.onReply(reply),
      onErrorReply: (error) => this.onErrorReply(error),
      onPush: (push) => this.onPush(push),
      onEnd: (reason) => this.lose(reason),
    })
  }

  static async open(address: Address, settings: ConnectionSettings): Promise<Connection> {
    const connection = new Connection(address, settings)
    const { promise: late, timer } = rejectLater(settings.connectTimeoutMs, address)
    try {
      await Promise.race([connection.greet(), late])
      connection.welcomed = true
      return connection
    } catch (error) {
      connection.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** The caller limits the time. */
  private async greet(): Promise<void> {
    const { username, password, database } = this.settings
    const hasName = username !== undefined || password !== undefined
    const hello = ['HELLO', '3', ...(hasName ? ['AUTH', username ?? 'default', password ?? ''] : [])]
    await this.ask(hello, Number.POSITIVE_INFINITY)
    if (database !== 0) await this.ask(['SELECT', String(database)], Number.POSITIVE_INFINITY)
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
      const reason = this.lost ? 'the connection was lost' : 'too many calls are waiting for an answer'
      flight.onFailure(new NoReply('not-sent', reason))
      return
    }
    this.flights.add(flight, performance.now())
    if (this.sweeper === undefined) this.startSweeping()
    this.socket.send(flight.args)
  }

  /** Sends one command, once. */
  ask(args: readonly Argument[], deadlineMs: number, binary = false): Promise<unknown> {
    return new Promise((onReply, onFailure) => this.send({ args, binary, deadlineMs, onReply, onFailure }))
  }

  async subscribe(channel: string, onMessage: (message: string) => void): Promise<void> {
    this.listeners.set(channel, onMessage)
    await this.ask(['SUBSCRIBE', channel], this.deadline())
  }

  async unsubscribe(channel: string): Promise<void> {
    this.listeners.delete(channel)
    if (!this.lost) await this.ask(['UNSUBSCRIBE', channel], this.deadline())
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
    this.socket.destroy()
    this.onLost(reason)
  }

  private deadline(): number {
    return performance.now() + this.settings.commandTimeoutMs
  }

  private onReply(reply: unknown): void {
    const place = this.answered()
    const flight = this.flights.at(place)
    if (flight === undefined) return
    if (this.doubted) void this.confirmed().then(() => this.flights.take(place) && flight.onReply(reply))
    else if (this.flights.take(place)) flight.onReply(reply)
  }

  private onErrorReply(error: Error): void {
    const place = this.answered()
    const flight = this.flights.at(place)
    if (flight !== undefined && this.flights.take(place)) flight.onFailure(error)
  }

  private onPush([kind, channel, content]: unknown[]): void {
    if (String(kind) === 'message') this.listeners.get(String(channel))?.(String(content))
    // They come instead of replies. An error comes as a reply.
    else if (CONFIRMATIONS.has(String(kind))) this.onReply(content)
  }

  /** Returns the place of the call that is answered. It may have ended before. */
  private answered(): number {
    const place = this.answers++
    const { times } = this.settings
    if (times === undefined || !this.welcomed) return place
    const flight = this.flights.at(place)
    if (flight !== undefined)
      times.add(flight.args[0] as string, performance.now() - this.flights.sentAt(place))
    return place
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

function rejectLater(ms: number, address: Address): { promise: Promise<never>; timer: NodeJS.Timeout } {
  let timer!: NodeJS.Timeout
  const promise = new Promise<never>((_, reject) => {
    timer = later(() => reject(new Error(`${nameOf(address)} did not answer within ${ms} ms`)), ms)
  })
  promise.catch(() => {})
  return { promise, timer }
}
