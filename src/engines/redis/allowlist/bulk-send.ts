import { CatracaError } from '../../../core/errors.js'
import type { Part, Parts } from './bulk-rows.js'
import { isPassing, pauseBefore } from './bulk-shards.js'

/** Parts in flight per shard: enough that the server is never idle, few enough to bound memory. */
const IN_FLIGHT = 3
const ATTEMPTS = 6

/** A part is sent alone: several in one call would block the server for longer. */
export const ALONE = { gathered: true }

/** A script's reply to a part: `stored`, `applied` (another part is next), or a refusal. */
export type PartReply = [outcome: string, applied?: number, added?: number, ...rest: unknown[]]

export type Sent = { outcome: 'stored'; added: number } | { outcome: 'gone' | 'frozen' | 'lost' }

export interface Sending {
  count: number
  /** Where to begin, if the shard is known to hold the rows before. */
  start: number
  cut(start: number): Part
  send(part: Part): Promise<PartReply>
  /** Called once for each part that this call has stored. */
  onStored?(part: Part, reply: PartReply): void
  /** Rows were stored although no reply reported it. */
  onSkipped?(): void
}

type Answer = { part: Part } & ({ reply: PartReply } | { error: unknown })

/**
 * Sends the rows of one shard in parts, several at once. The shard takes them in order and replies which is next. A
 * part whose outcome is unknown, or that came too early, is sent again.
 */
export async function sendInOrder(sending: Sending): Promise<Sent> {
  const sender = new Sender(sending)
  while (!sender.isDone) {
    sender.fill()
    const refusal = await sender.land()
    if (refusal !== undefined) return { outcome: refusal }
  }
  return { outcome: 'stored', added: sender.added }
}

class Sender {
  private readonly flying: Promise<Answer>[] = []
  private next: number
  private confirmed: number
  added = 0
  private failures = 0

  constructor(private readonly sending: Sending) {
    this.next = this.confirmed = sending.start
  }

  get isDone(): boolean {
    return this.confirmed >= this.sending.count
  }

  fill(): void {
    while (this.flying.length < IN_FLIGHT && this.next < this.sending.count) {
      const part = this.sending.cut(this.next)
      this.flying.push(answered(this.sending, part))
      this.next = part.end
    }
  }

  /** Handles the oldest reply. Returns the refusal of the shard, if any. */
  async land(): Promise<'gone' | 'frozen' | 'lost' | undefined> {
    const answer = await this.flying.shift()!
    if (!('error' in answer) && answer.reply[0] === 'stored') {
      this.failures = 0
      this.stored(answer.part, answer.reply)
      return undefined
    }
    // The parts after it were refused as well, unless it was stored after all.
    await this.landAll()
    if ('error' in answer) {
      if (!isPassing(answer.error) || ++this.failures > ATTEMPTS) throw answer.error
      await pauseBefore(this.failures)
      return undefined
    }
    const [outcome, applied = 0, added = 0] = answer.reply
    if (outcome === 'applied') return this.goOnFrom(applied, added)
    return outcome as 'gone' | 'frozen' | 'lost'
  }

  private async landAll(): Promise<void> {
    for (const answer of await Promise.all(this.flying.splice(0))) {
      if ('error' in answer || answer.reply[0] !== 'stored') continue
      this.skipped(answer.part.start)
      this.stored(answer.part, answer.reply)
    }
    this.next = this.confirmed
  }

  private goOnFrom(applied: number, added: number): undefined {
    if (applied <= this.confirmed && ++this.failures > ATTEMPTS) {
      throw new CatracaError('INTERNAL', 'a shard requests the same rows repeatedly')
    }
    this.skipped(applied)
    this.confirmed = this.next = applied
    this.added = added
  }

  private skipped(end: number): void {
    if (end > this.confirmed) this.sending.onSkipped?.()
  }

  private stored(part: Part, [, applied = 0, added = 0, ...rest]: PartReply): void {
    this.confirmed = applied
    this.added = added
    this.sending.onStored?.(part, ['stored', applied, added, ...rest])
  }
}

async function answered(sending: Sending, part: Part): Promise<Answer> {
  try {
    return { part, reply: await sending.send(part) }
  } catch (error) {
    return { part, error }
  }
}

/** The rows of a part that a script named: positions from 1, or -1 for all. */
export function namedRows(part: Part, parts: Parts, named: unknown): string[] {
  if (named === -1) return parts.ids(part.start, part.end)
  return (named as number[]).map((place) => parts.ids(part.start + place - 1, part.start + place)[0]!)
}
