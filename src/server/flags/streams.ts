import { isUnavailable } from '../../core/deadlines.js'
import { every } from '../../core/timers.js'
import { type FlagState, type Flags, isSameState } from '../../guards/allowlist/flags/flags.js'
import { evaluateBulk } from './bulk.js'
import { EventStream } from './event-stream.js'
import type { ExposedFlags } from './exposed.js'

/** How soon clients are told of a change. */
const COMPARE_EVERY_MS = 1_000
/** Windows and ramps change flags although no list changes, and lists outside of memory tell of no change. */
const EVALUATE_ALL_EVERY = 5
/** Proxies and clients give up connections on which nothing comes. */
const HEARTBEAT_EVERY = 15
/** Flags of all streams together: each is evaluated again when a list changes. */
const MAX_FOLLOWED = 100_000

interface Stream {
  /** False once the key of the client was revoked. */
  readonly mayFollow: () => boolean
  readonly context: { targetingKey: string }
  readonly events: EventStream
  etag: string
}

/**
 * The event streams of clients. Each second, if an exposed list has changed, the flags of each client are evaluated
 * again, and only clients whose own flags changed are told: to tell all would make all of them ask at once.
 */
export class FlagStreams {
  private readonly streams = new Set<Stream>()
  private states: readonly FlagState[] = []
  private timer: NodeJS.Timeout | undefined
  private round = 0
  private isComparing = false
  private opening = 0

  constructor(
    private readonly flags: Flags,
    private readonly exposed: ExposedFlags,
    readonly maxStreams: number,
    /** Waits until others have had their turns. */
    private readonly turn: () => Promise<void>,
  ) {}

  /** Whether one more stream would be too many. Streams that are just being opened count. */
  private async isFull(): Promise<boolean> {
    const { length } = await this.exposed.all()
    const streams = this.streams.size + this.opening
    return streams > this.maxStreams || (streams > 1 && streams * length > MAX_FOLLOWED)
  }

  /**
   * The events for one customer; undefined when too many streams are open. `lastEventId`: the last event that the client
   * got before its connection broke. Throws `WrongContext`.
   */
  async open(
    targetingKey: string | undefined,
    lastEventId: string | undefined,
    mayFollow: () => boolean,
  ): Promise<EventStream | undefined> {
    this.opening++
    try {
      if (await this.isFull()) return undefined
      await this.turn()
      return await this.opened({ targetingKey: targetingKey as string }, lastEventId, mayFollow)
    } finally {
      this.opening--
    }
  }

  private async opened(
    context: Stream['context'],
    lastEventId: string | undefined,
    mayFollow: () => boolean,
  ): Promise<EventStream> {
    const { etag } = await evaluateBulk(this.flags, this.exposed, context)
    const events = new EventStream()
    const stream: Stream = { context, events, etag, mayFollow }
    this.streams.add(stream)
    events.once('close', () => this.closed(stream))
    // The flags may have changed since the client got them.
    if (lastEventId !== idOf(etag)) this.tell(stream, etag)
    this.timer ??= every(() => this.tick(), COMPARE_EVERY_MS).unref()
    return events
  }

  /** Ends all streams: the server stops. Clients connect again, to another pod. */
  close(): void {
    for (const { events } of this.streams) events.end()
  }

  private closed(stream: Stream): void {
    this.streams.delete(stream)
    if (this.streams.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
    this.states = []
  }

  private async tick(): Promise<void> {
    this.round++
    for (const { events, mayFollow } of this.streams) if (!mayFollow()) events.end()
    if (this.round % HEARTBEAT_EVERY === 0) for (const { events } of this.streams) events.send(':\n\n')
    if (this.isComparing) return
    this.isComparing = true
    try {
      if ((await this.hasChanged()) || this.round % EVALUATE_ALL_EVERY === 0) await this.evaluateAll()
    } finally {
      this.isComparing = false
    }
  }

  private async hasChanged(): Promise<boolean> {
    const before = this.states
    const ids = await this.exposed.all()
    const now = await Promise.all(ids.map((id) => this.flags.state(id)))
    this.states = now
    return before.length !== now.length || now.some((state, i) => !isSameState(state, before[i]!))
  }

  private async evaluateAll(): Promise<void> {
    let failure: unknown
    for (const stream of [...this.streams]) {
      await this.turn()
      if (stream.events.destroyed || stream.events.readableEnded) continue
      try {
        const { etag } = await evaluateBulk(this.flags, this.exposed, stream.context)
        if (etag !== stream.etag) this.tell(stream, etag)
      } catch (error) {
        // The next customer would wait for the store as long as this one.
        if (isUnavailable(error)) throw error
        failure = error
      }
    }
    if (failure !== undefined) throw failure
  }

  /** A client that has not read what was sent before is told in a later round. */
  private tell(stream: Stream, etag: string): void {
    const data = JSON.stringify({ type: 'refetchEvaluation', etag: idOf(etag) })
    if (stream.events.send(`id: ${idOf(etag)}\ndata: ${data}\n\n`)) stream.etag = etag
  }
}

/** Without its quotes. */
const idOf = (etag: string): string => etag.slice(1, -1)
