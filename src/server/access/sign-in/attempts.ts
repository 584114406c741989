import { CatracaError } from '../../../core/errors.js'

const WINDOW_MS = 60_000
/** Failed attempts in a window: of one address, and of all together. Behind a proxy all have one address. */
const MAX_FAILED = { one: 30, all: 300 }
const MAX_AT_ONCE = 10

/**
 * Bounds what strangers can make the server ask of the provider: each attempt to finish a sign-in is a call there. Only
 * attempts that failed count, so those who may enter do not use up the bound.
 */
export class Attempts {
  private window = Number.NEGATIVE_INFINITY
  private failed = 0
  private readonly byAddress = new Map<string, number>()
  private running = 0

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    const now = this.nowMs()
    if (now - this.window >= WINDOW_MS) {
      this.window = now
      this.failed = 0
      this.byAddress.clear()
    }
    const isBusy = this.running >= MAX_AT_ONCE || this.failed >= MAX_FAILED.all
    if (isBusy || (this.byAddress.get(address) ?? 0) >= MAX_FAILED.one) {
      throw new CatracaError('OVERLOADED', 'too many sign-ins have failed; try again in a minute')
    }
    this.running++
    try {
      return await work()
    } catch (error) {
      this.failed++
      this.byAddress.set(address, (this.byAddress.get(address) ?? 0) + 1)
      throw error
    } finally {
      this.running--
    }
  }
}
