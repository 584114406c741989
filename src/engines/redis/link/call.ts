import { CatracaError } from '../../../core/errors.js'
import type { Calls } from './calls.js'
import type { CallInFlight } from './calls-in-flight.js'
import type { Connection } from './connection.js'
import type { Argument } from './redis.js'

export interface Command {
  slot: number
  args: readonly Argument[]
  binary: boolean
  write: boolean
  /** Whether a write may be sent again when its connection is lost. */
  repeatable?: boolean
  deadlineMs: number
  /** The server refused with this message and executed nothing. Returns true if the callback handles it. */
  onRefused?: (message: string, call: Call) => boolean
}

/** A command until its result, possibly over several connections. */
export class Call implements CallInFlight {
  readonly slot: number
  readonly args: readonly Argument[]
  readonly binary: boolean
  readonly write: boolean
  readonly repeatable: boolean
  readonly deadlineMs: number
  readonly onRefused: Command['onRefused']
  attempts = 0
  /** How often its script was sent along. Other refusals, as of a server that is loading, do not count. */
  loads = 0
  /** An earlier attempt of this write may have been executed. */
  mayBeDone = false
  /** The connection of the last attempt. */
  via: Connection | undefined

  constructor(
    private readonly calls: Calls,
    question: Command,
    readonly resolve: (reply: unknown) => void,
    private readonly fail: (error: Error) => void,
  ) {
    this.slot = question.slot
    this.args = question.args
    this.binary = question.binary
    this.write = question.write
    this.repeatable = question.repeatable ?? !question.write
    this.deadlineMs = question.deadlineMs
    this.onRefused = question.onRefused
  }

  reject(error: CatracaError): void {
    const isWrong = this.mayBeDone && error.code === 'ENGINE_UNAVAILABLE'
    this.fail(isWrong ? new CatracaError('UNKNOWN_OUTCOME', error.message) : error)
  }

  onReply(reply: unknown): void {
    this.resolve(reply)
  }

  onFailure(error: unknown): void {
    this.calls.failed(this, error)
  }
}
