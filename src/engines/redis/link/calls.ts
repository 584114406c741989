import { CatracaError } from '../../../core/errors.js'
import { every, later } from '../../../core/timers.js'
import { parseAddress } from './address.js'
import { Call, type Command } from './call.js'
import { Coalescer, returning } from './coalescer.js'
import type { Connection } from './connection.js'
import {
  isErrorReply,
  NoReply,
  type Refusal,
  refusalOf,
  refused,
  unavailable,
  withoutReply,
} from './failures.js'
import type { Settings } from './options.js'
import type { Argument } from './redis.js'
import type { Topology } from './topology.js'

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 200
const REDIRECTS_AT_ONCE = 3

/** Sends each call to the right server, ends it by its deadline, and sends it again where that is safe. */
export class Calls {
  private readonly waiting = new Set<Call>()
  private watch: NodeJS.Timeout | undefined
  private closed = false
  private readonly replicated: Coalescer<Connection, number, number>

  constructor(
    private readonly topology: () => Topology,
    private readonly settings: Settings,
  ) {
    // WAIT blocks its connection, so one WAIT serves all writes of an event-loop turn.
    this.replicated = new Coalescer(
      returning(async (connection, deadlines) => {
        const { replicas, timeoutMs } = settings.waitReplicas!
        const args = ['WAIT', String(replicas), String(timeoutMs)]
        const confirmed = (await connection.ask(args, Math.max(...deadlines))) as number
        return deadlines.map(() => confirmed)
      }),
      { maxItems: Number.POSITIVE_INFINITY },
    )
  }

  deadline(): number {
    return performance.now() + this.settings.commandTimeoutMs
  }

  ask(question: Command): Promise<unknown> {
    return new Promise((resolve, reject) => this.start(new Call(this, question, resolve, reject)))
  }

  /** Reads of one slot, executed in the given order. */
  async askInOrder(questions: readonly Command[]): Promise<unknown[]> {
    const found = await this.tryInOrder(questions)
    if (found !== undefined) return found
    // After a redirect or a retry, only waiting for each reply preserves the order.
    const replies: unknown[] = []
    for (const question of questions) replies.push(await this.ask(question))
    return replies
  }

  /** Like `askInOrder`, but once and only on the known server of the slot. Undefined if one of them failed. */
  async tryInOrder(questions: readonly Command[]): Promise<unknown[] | undefined> {
    const connection = this.topology().connection(questions[0]!.slot)
    if (connection === undefined) return undefined
    const sent = questions.map(({ args, deadlineMs, binary }) => connection.ask(args, deadlineMs, binary))
    try {
      return await Promise.all(sent)
    } catch {
      return undefined
    }
  }

  /** Sends a command that changes nothing to this server only, once. */
  async askAt(connection: Connection, args: readonly Argument[]): Promise<unknown> {
    try {
      return await connection.ask(args, this.deadline())
    } catch (error) {
      if (error instanceof NoReply) throw withoutReply(error, String(args[0]), false)
      throw refused((error as Error).message, String(args[0]))
    }
  }

  start(call: Call): void {
    const connection = this.topology().connection(call.slot)
    if (connection === undefined) this.wait(call)
    else this.send(call, connection)
  }

  send(call: Call, connection: Connection): void {
    call.via = connection
    if (call.write && this.settings.waitReplicas !== undefined) this.sendReplicated(call, connection)
    else connection.send(call)
  }

  /** A connection opened, or slots moved. */
  changed(): void {
    for (const call of [...this.waiting]) {
      const connection = this.topology().connection(call.slot)
      if (connection === undefined) continue
      this.waiting.delete(call)
      this.send(call, connection)
    }
  }

  /** The server of the slot is a replica. */
  notPrimary(slot: number): void {
    const connection = this.topology().connection(slot)
    if (connection !== undefined) this.topology().notPrimary(connection)
  }

  close(): void {
    this.closed = true
    clearInterval(this.watch)
    for (const call of this.waiting) call.reject(unavailable('this instance is closed'))
    this.waiting.clear()
  }

  private sendReplicated(call: Call, connection: Connection): void {
    const { replicas } = this.settings.waitReplicas!
    const { args, binary, deadlineMs } = call
    let failed = false
    let reply: unknown
    connection.send({
      ...{ args, binary, deadlineMs },
      onReply: (value) => {
        reply = value
      },
      onFailure: (error) => {
        failed = true
        call.onFailure(error)
      },
    })
    this.replicated.ask(connection, deadlineMs).then(
      (confirmed) => {
        const message = `made on the primary, but ${confirmed} of ${replicas} replicas have confirmed it`
        if (failed) return
        if (confirmed >= replicas) call.resolve(reply)
        else call.reject(new CatracaError('UNKNOWN_OUTCOME', message))
      },
      (error: unknown) => {
        if (!failed) call.onFailure(error instanceof NoReply ? new NoReply('lost', error.message) : error)
      },
    )
  }

  /** For `Call` only: handles a missing reply or an error reply. */
  failed(call: Call, error: unknown): void {
    const connection = call.via!
    if (isErrorReply(error)) this.refused(call, connection, error.message)
    else if (!(error instanceof NoReply)) call.reject(new CatracaError('INTERNAL', String(error)))
    else if (this.maySendAgain(call, connection, error)) this.pause(call, FIRST_PAUSE_MS)
    else call.reject(withoutReply(error, nameOf(call), call.write))
  }

  private maySendAgain(call: Call, connection: Connection, { missing }: NoReply): boolean {
    if (this.closed || performance.now() >= call.deadlineMs) return false
    if (missing === 'lost' && call.write) call.mayBeDone = true
    return missing === 'not-sent' ? !connection.usable : missing === 'lost' && call.repeatable
  }

  private refused(call: Call, connection: Connection, message: string): void {
    if (call.onRefused?.(message, call) === true) return
    const refusal = refusalOf(message)
    call.attempts++
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(call.attempts, 10))
    if (refusal === undefined || this.closed || performance.now() + pauseMs >= call.deadlineMs) {
      call.reject(refused(message, nameOf(call)))
      return
    }
    if (refusal.kind === 'not-primary') this.topology().notPrimary(connection)
    const redirect = refusal.target !== undefined && call.attempts <= REDIRECTS_AT_ONCE
    if (!redirect || !this.redirected(call, refusal, connection)) this.pause(call, pauseMs)
  }

  /** Follows MOVED and ASK at once. False if there is no connection to the target. */
  private redirected(call: Call, { kind, target }: Refusal, connection: Connection): boolean {
    const address = parseAddress(target!, connection.address.host)
    if (address === undefined) return false
    if (kind === 'moved') {
      this.topology().moved(call.slot, address)
      this.start(call)
      return true
    }
    const other = this.topology().asked(address)
    if (other === undefined) return false
    // A connection executes commands in order, so ASKING directly precedes the command it is for.
    other.ask(['ASKING'], call.deadlineMs).catch(() => {})
    this.send(call, other)
    return true
  }

  private pause(call: Call, pauseMs: number): void {
    later(() => this.start(call), pauseMs * (0.5 + Math.random() / 2))
  }

  /** In a short outage the call waits. In a long one every call fails at once. */
  private wait(call: Call): void {
    const { commandTimeoutMs, maxWaiting } = this.settings
    const { reason, sinceMs } = this.topology().outage(call.slot)
    const long = this.closed || performance.now() - sinceMs >= commandTimeoutMs
    if (long || this.waiting.size >= maxWaiting) {
      call.reject(
        unavailable(long ? reason : `${maxWaiting} calls are already waiting for a connection (${reason})`),
      )
      return
    }
    this.waiting.add(call)
    this.watch ??= every(() => this.giveUp(), Math.max(5, commandTimeoutMs / 40))
  }

  private giveUp(): void {
    const now = performance.now()
    for (const call of this.waiting) {
      const { reason, sinceMs } = this.topology().outage(call.slot)
      if (now < call.deadlineMs && now - sinceMs < this.settings.commandTimeoutMs) continue
      this.waiting.delete(call)
      call.reject(unavailable(reason))
    }
    if (this.waiting.size > 0) return
    clearInterval(this.watch)
    this.watch = undefined
  }
}

const nameOf = ({ args }: Call): string => String(args[0])
