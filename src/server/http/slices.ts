import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { reportFailure, soon } from '../../core/timers.js'
import { takeBefore, usableEvent } from './connections.js'
import { Pipelines } from './pipelines.js'
import { Rotation } from './rotation.js'
import { type Newcomers, Turns } from './turns.js'

/** What comes in so few bytes is parsed at once: most requests. Of 10,000 connections together it takes less than a second. */
const SMALL_BYTES = 512
/** Of more than that, so much is parsed at a time: one-byte chunks of so many bytes take a third of a millisecond. */
const SLICE_BYTES = 2 * 1024
/** A slice may grow to this, while those before it took little time: bodies in large chunks. */
const MOST_BYTES = 32 * 1024
const LITTLE_MS = 0.05
/** So many slices are parsed at once in one turn of the event loop; the others wait in the queue. */
const SLICES_AT_ONCE = 16
/** Heads in one slice. */
const MAX_HEADS = 16
/** The queue is worked on for so long, and then others have so many turns, see `Turns`. */
const WORK_MS = 0.5
const TURNS_OF_OTHERS = 8

const END_OF_HEAD = '\r\n\r\n'
const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a

/**
 * Gives Node's HTTP parser a little at a time. A connection is read in pieces of up to 64 KiB, and all that are ready are read
 * before anything else happens: some hundred callers who send thousands of tiny requests, headers or chunks would have
 * the server to themselves for seconds. So what is more than a small request waits in a queue, in which all connections
 * take turns. Callers take turns too, and all strangers together are one, so that they do not hold up the bodies of callers.
 */
export class SlicedReading {
  private readonly turns: Turns
  private readonly queue = new Rotation<Reader>()
  private slicesInTurn = 0

  /** `callerAt`: whose valid key came over this connection. */
  constructor(
    server: Server,
    private readonly callerAt: (socket: Socket) => unknown,
    newcomers: Newcomers,
  ) {
    this.turns = new Turns(newcomers)
    takeBefore(server, usableEvent(server), (socket, attach) => {
      attach()
      const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[]
      if (parse !== undefined) new Reader(socket, parse, this)
    })
  }

  /** Whether something larger may be parsed now, before this turn of the event loop ends. */
  mayReadNow(): boolean {
    if (!this.queue.isEmpty || this.slicesInTurn >= SLICES_AT_ONCE) return false
    if (this.slicesInTurn++ === 0)
      soon(() => {
        this.slicesInTurn = 0
      })
    return true
  }

  add(reader: Reader): void {
    if (this.queue.isEmpty) this.turns.add(this.work, TURNS_OF_OTHERS)
    this.queue.add(this.callerAt(reader.socket), reader)
  }

  private readonly work = (): void => {
    const endMs = performance.now() + WORK_MS
    let nowMs = endMs - WORK_MS
    do {
      const reader = this.queue.next()!
      const hasMore = reader.readSlice()
      const startedMs = nowMs
      nowMs = performance.now()
      reader.adapt(nowMs - startedMs)
      if (hasMore) this.queue.add(this.callerAt(reader.socket), reader)
    } while (!this.queue.isEmpty && nowMs < endMs)
    if (!this.queue.isEmpty) this.turns.add(this.work, TURNS_OF_OTHERS)
  }
}

/** `_paused`: answers fill the connection, so Node parses nothing more until they have left, and asserts that nobody else does. */
type ParsedSocket = Socket & { parser?: unknown; _paused?: boolean }

/** Reads one connection. What is not parsed yet stays in the buffer of the stream, which is paused for so long. */
class Reader {
  private isWaiting = false
  private sliceBytes = SLICE_BYTES

  constructor(
    readonly socket: ParsedSocket,
    private readonly parse: (chunk: Buffer) => void,
    private readonly reading: SlicedReading,
  ) {
    socket.off('data', parse)
    socket.on('data', this.onData)
    // Node resumes a connection after each request, and after each answer.
    socket.on('resume', () => {
      if (this.isWaiting) socket.pause()
    })
  }

  /** True when there is more to read in a further turn. */
  readSlice(): boolean {
    const { socket } = this
    if (!this.isBlocked()) socket.read(Math.min(this.sliceBytes, socket.readableLength))
    this.isWaiting = this.hasParser() && !this.isBlocked() && socket.readableLength > 0
    // A blocked connection is resumed by what blocks it.
    if (!this.isWaiting && !this.isBlocked()) socket.resume()
    return this.isWaiting
  }

  /** Called after a slice. */
  adapt(tookMs: number): void {
    this.sliceBytes = tookMs < LITTLE_MS ? Math.min(2 * this.sliceBytes, MOST_BYTES) : SLICE_BYTES
  }

  private readonly onData = (chunk: Buffer): void => {
    if (!this.hasParser()) return
    const isSmall = chunk.length <= SMALL_BYTES || this.isWaiting
    let at = 0
    if (!this.socket._paused && (isSmall || this.reading.mayReadNow())) {
      try {
        at = this.parseSlice(chunk)
      } catch (error) {
        // Whatever it is, it must cost this connection only.
        reportFailure(error)
        this.socket.destroy()
        return
      }
    }
    if (at === chunk.length || !this.hasParser()) return
    this.socket.pause()
    this.socket.unshift(at === 0 ? chunk : chunk.subarray(at))
    if (this.isWaiting || this.isBlocked()) return
    this.isWaiting = true
    this.reading.add(this)
  }

  /** Where the slice ends: what comes behind it is left for later. */
  private parseSlice(chunk: Buffer): number {
    const most = Math.min(chunk.length, this.isWaiting ? this.sliceBytes : SLICE_BYTES)
    let at = 0
    for (let heads = 0; heads < MAX_HEADS; heads++) {
      const end = endOfPart(chunk, at, most)
      this.parse.call(this.socket, at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end))
      at = end
      if (at === most || !this.hasParser() || this.isBlocked()) break
    }
    return at
  }

  /**
   * Node takes the parser away from a connection when it is over, or when a `CONNECT` came, and gives it to another
   * connection: what still comes must not reach it.
   */
  private hasParser(): boolean {
    return this.socket.parser != null
  }

  /** Whether enough requests wait, or the body that arrives is not read. */
  private isBlocked(): boolean {
    const { socket } = this
    if (socket._paused === true || Pipelines.isFull(socket)) return true
    const request = Pipelines.unfinished(socket)?.request
    return request !== undefined && request.readableLength >= request.readableHighWaterMark
  }
}

/**
 * A part ends where a head may end. Node drops what comes in the same part behind a request with `Upgrade`, and between two
 * parts is the time to look whether more requests may be parsed.
 */
function endOfPart(chunk: Buffer, at: number, most: number): number {
  if (at === 0 && isLineEnd(chunk[0]!)) {
    // The head may have begun to end in an earlier chunk.
    const start = chunk.toString('latin1', 0, END_OF_HEAD.length)
    for (let before = 0; before < END_OF_HEAD.length; before++)
      if (start.startsWith(END_OF_HEAD.slice(before))) return END_OF_HEAD.length - before
  }
  return Math.min(endOfHead(chunk, at), most)
}

/** Infinite when no head ends there. Four times faster than `indexOf`: one of every four bytes is looked at. */
function endOfHead(chunk: Buffer, from: number): number {
  for (let i = from + 3; i < chunk.length; i += 4) {
    if (!isLineEnd(chunk[i]!)) continue
    // Where this byte is the last one of the end, or one before it.
    for (let last = i; last < i + 4; last++) {
      if (
        chunk[last] === LINE_FEED &&
        chunk[last - 1] === CARRIAGE_RETURN &&
        chunk[last - 2] === LINE_FEED &&
        chunk[last - 3] === CARRIAGE_RETURN &&
        last - 3 >= from
      )
        return last + 1
    }
  }
  return Number.POSITIVE_INFINITY
}

const isLineEnd = (byte: number): boolean => byte === CARRIAGE_RETURN || byte === LINE_FEED
