import { setTimeout as sleep } from 'node:timers/promises'
import type { Timing } from '../../core/timing.js'
import type { StoredRecord } from './port.js'
import type { RecordKey } from './types.js'

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1000
const GROWTH = 1.5

type Read = (key: RecordKey) => Promise<StoredRecord | undefined>

interface Poll {
  waiters: number
  /** Resolves when the record may be claimed or has ended. Undefined: no caller waits any more. */
  ended: Promise<StoredRecord | undefined>
}

/** Waits until another caller's work ends. All waiters for one record in a process share one poll. */
export class Polls {
  private readonly polls = new Map<string, Map<string, Poll>>()

  constructor(
    private readonly read: Read,
    /** By the engine's clock, as far as it is known. */
    private readonly isOver: (record: StoredRecord | undefined) => boolean,
    private readonly timing: Timing,
  ) {}

  /** The record when its owner no longer had it. Undefined after the timeout, or if the record was deleted. */
  async ended(
    key: RecordKey,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<StoredRecord | undefined> {
    const poll = this.join(key)
    let giveUp = () => {}
    const isUp = new Promise<undefined>((resolve) => (giveUp = () => resolve(undefined)))
    const callOff = this.timing.after(timeoutMs, giveUp)
    if (signal?.aborted) giveUp()
    signal?.addEventListener('abort', giveUp, { once: true })
    try {
      return await Promise.race([poll.ended, isUp])
    } finally {
      callOff()
      signal?.removeEventListener('abort', giveUp)
      poll.waiters--
    }
  }

  private join(key: RecordKey): Poll {
    let ofOperation = this.polls.get(key.operation)
    if (ofOperation === undefined) this.polls.set(key.operation, (ofOperation = new Map()))
    let poll = ofOperation.get(key.key)
    if (poll === undefined) {
      const begun: Poll = { waiters: 0, ended: Promise.resolve(undefined) }
      begun.ended = this.look(key, begun).finally(() => this.forget(key))
      ofOperation.set(key.key, begun)
      poll = begun
    }
    poll.waiters++
    return poll
  }

  private forget({ operation, key }: RecordKey): void {
    const ofOperation = this.polls.get(operation)
    ofOperation?.delete(key)
    if (ofOperation?.size === 0) this.polls.delete(operation)
  }

  private async look(key: RecordKey, poll: Poll): Promise<StoredRecord | undefined> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * GROWTH)) {
      await sleep(pauseMs * (0.75 + Math.random() / 2))
      if (poll.waiters === 0) return undefined
      try {
        const record = await this.read(key)
        if (this.isOver(record)) return record
      } catch {
        // Keep waiting: the other caller may still be working although the engine does not answer.
      }
    }
  }
}
