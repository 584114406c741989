import type { Calls } from './calls.js'
import type { Connection } from './connection.js'
import type { Flight } from './flights.js'
import type { Argument } from './redis.js'

export interface Question {
  slot: number
  args: readonly Argument[]
  binary: boolean
  write: boolean
  deadlineMs: number
  /** The server refused with this message, and nothing was executed; true when that is taken care of. */
  onRefused?: (message: string, call: Call) => boolean
}

/** A question on its way to its end, perhaps over several connections. */
export class Call implements Flight {
  readonly slot: number
  readonly args: readonly Argument[]
  readonly binary: boolean
  readonly write: boolean
  readonly deadlineMs: number
  readonly onRefused: Question['onRefused']
  attempts = 0
  /** The connection of the last attempt. */
  via: Connection | undefined

  constructor(
    private readonly calls: Calls,
    question: Question,
    readonly resolve: (reply: unknown) => void,
    readonly reject: (error: Error) => void,
  ) {
    this.slot = question.slot
    this.args = question.args
    this.binary = question.binary
    this.write = question.write
    this.deadlineMs = question.deadlineMs
    this.onRefused = question.onRefused
  }

  onReply(reply: unknown): void {
    this.resolve(reply)
  }

  onFailure(error: unknown): void {
    this.calls.failed(this, error)
  }
}
