import { Deadlines } from '../../core/deadlines.js'

/** An engine may have to start a thread, open files or connect, once; that is not slowness of a decision. */
const FIRST_TIMEOUT_MS = 10_000

/**
 * What the first call waits for. The first attempt has time to start something; if it fails, those after it have no
 * more time than a decision, so that an engine that is down does not hold up everybody.
 */
export class FirstCall {
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

  /** Undefined once it is done. */
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
