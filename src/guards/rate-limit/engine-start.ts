import { Deadlines } from '../../core/deadlines.js'

/** An engine may have to start a thread, open files or connect once. That time must not count as a slow decision. */
const FIRST_TIMEOUT_MS = 10_000

/**
 * The start of the engine, which the first call waits for. The first attempt gets a long timeout. If it fails,
 * later attempts get only the timeout of a decision, so that an engine that is down does not delay every caller.
 */
export class EngineStart {
  private hasBegun = false
  private attempt: Promise<unknown> | undefined
  private deadlines: Deadlines

  constructor(
    private readonly begin: () => Promise<unknown>,
    private readonly timeoutMs: number,
  ) {
    this.deadlines = new Deadlines(Math.max(FIRST_TIMEOUT_MS, timeoutMs))
  }

  get isDone(): boolean {
    return this.hasBegun
  }

  /** Undefined once the engine has started. */
  ready(): Promise<unknown> | undefined {
    if (this.hasBegun) return undefined
    this.attempt ??= this.deadlines
      .within(this.begin())
      .then(() => {
        this.hasBegun = true
      })
      .finally(() => {
        this.attempt = undefined
        this.deadlines = new Deadlines(this.timeoutMs)
      })
    return this.attempt
  }
}
