import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { soon } from '../../core/timers.js'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Pending {
  request: IncomingMessage
  response: ServerResponse
}

interface Pipeline {
  socket: Socket
  inFlight: number
  waiting: Pending[]
  last: Pending
  /** When the last answer was sent, and how many bytes had been read from the connection. */
  answeredAtMs: number
  bytesRead: number
}

const PIPELINE = Symbol('requests of a connection')
type PipelinedSocket = Socket & { [PIPELINE]?: Pipeline }

/** For waiting requests of all connections, in one turn of the event loop. Then other connections are read. */
const TURN_MS = 10

/**
 * Bounds the work for one connection. A client may send requests without waiting for answers, and Node hands out all of
 * them at once, then reads on: one connection would fill the queues of the store, and keep the event loop from all others.
 * So the requests beyond a bound wait. Nothing more is read from a connection while some of its requests wait. When an
 * answer has left, the next one begins in the next turn of the event loop, and not at once: answers that need no waiting
 * would otherwise follow each other without end.
 */
export class Pipelines {
  /** Those with requests that may begin in the next turn. The first one has waited longest. */
  private readonly ready = new Set<Pipeline>()
  private isScheduled = false

  constructor(
    private readonly maxInFlight: number,
    private readonly handle: Handler,
  ) {}

  /** Whether all that came over this connection is answered. A connection that sent nothing yet is not idle. */
  static isIdle(socket: PipelinedSocket): boolean {
    const pipeline = socket[PIPELINE]
    return pipeline?.inFlight === 0 && pipeline.bytesRead === socket.bytesRead
  }

  /** Whether nothing more is to be read from this connection for now. */
  static isFull(socket: PipelinedSocket): boolean {
    return (socket[PIPELINE]?.waiting.length ?? 0) > 0
  }

  /** Whether all is answered, and has been for some time, and only the rest of a body is missing, which nobody reads. */
  static awaitsOnlyBody(socket: PipelinedSocket, answeredBeforeMs: number): boolean {
    const pipeline = socket[PIPELINE]
    return (
      pipeline?.inFlight === 0 && !pipeline.last.request.complete && pipeline.answeredAtMs < answeredBeforeMs
    )
  }

  /** The answer that is owed to a request whose body is still arriving. */
  static unfinished(socket: PipelinedSocket): ServerResponse | undefined {
    const last = socket[PIPELINE]?.last
    return last === undefined || last.request.complete ? undefined : last.response
  }

  /** The answer to the last request. Those to earlier requests are sent before it. */
  static lastAnswer(socket: PipelinedSocket): ServerResponse | undefined {
    return socket[PIPELINE]?.last.response
  }

  /** Acts when every request of this connection is answered: answers leave in the order of requests. */
  static whenAnswered(socket: PipelinedSocket, act: () => void): void {
    const last = Pipelines.lastAnswer(socket)
    if (last === undefined || last.writableFinished) act()
    // Runs before Node closes a connection that will receive nothing more.
    else last.prependOnceListener('finish', act)
  }

  readonly take: Handler = (request, response) => {
    const socket: PipelinedSocket = request.socket
    const last = { request, response }
    const pipeline = (socket[PIPELINE] ??= newPipeline(socket, last))
    pipeline.last = last
    if (pipeline.waiting.length === 0 && this.mayBegin(pipeline)) this.begin(pipeline, last)
    else this.queue(pipeline, last)
  }

  private mayBegin({ socket, inFlight }: Pipeline): boolean {
    // With answers that the client does not read, a further answer would only take memory.
    return inFlight === 0 || (inFlight < this.maxInFlight && !socket.writableNeedDrain)
  }

  private queue(pipeline: Pipeline, pending: Pending): void {
    pipeline.waiting.push(pending)
    pipeline.socket.pause()
  }

  private schedule(pipeline: Pipeline): void {
    this.ready.add(pipeline)
    if (this.isScheduled) return
    this.isScheduled = true
    soon(() => this.turn())
  }

  /** Every connection gets its share, and when the time is over, those that got nothing are first in the next turn. */
  private turn(): void {
    this.isScheduled = false
    const untilMs = performance.now() + TURN_MS
    for (const pipeline of [...this.ready]) {
      this.ready.delete(pipeline)
      this.beginWaiting(pipeline)
      if (performance.now() >= untilMs) break
    }
    const [first] = this.ready
    if (first !== undefined) this.schedule(first)
  }

  private beginWaiting(pipeline: Pipeline): void {
    const { socket, waiting } = pipeline
    if (socket.destroyed) waiting.length = 0
    while (waiting.length > 0 && this.mayBegin(pipeline)) this.begin(pipeline, waiting.shift()!)
    // Else it goes on when an answer has left.
    if (waiting.length === 0) socket.resume()
  }

  private begin(pipeline: Pipeline, { request, response }: Pending): void {
    pipeline.inFlight++
    response.once('close', () => {
      pipeline.inFlight--
      pipeline.answeredAtMs = performance.now()
      pipeline.bytesRead = request.socket.bytesRead
      if (pipeline.waiting.length > 0) this.schedule(pipeline)
    })
    // It may have been refused while it waited.
    if (!response.writableEnded) this.handle(request, response)
  }
}

function newPipeline(socket: Socket, last: Pending): Pipeline {
  const pipeline = { socket, inFlight: 0, waiting: [], last, answeredAtMs: 0, bytesRead: 0 }
  // Node resumes a connection after each request, and after each answer.
  socket.on('resume', () => {
    if (pipeline.waiting.length > 0) socket.pause()
  })
  return pipeline
}
