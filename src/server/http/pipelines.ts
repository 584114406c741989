import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Newcomers, Turns } from './turns.js'

/** A request that waits takes some three kilobytes of memory. */
const MAX_WAITING = 8

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Pending {
  request: IncomingMessage
  response: ServerResponse
}

interface Pipeline {
  socket: Socket
  inFlight: number
  waiting: Pending[]
  /** Whether the first of those that wait has its turn soon. */
  hasTurn: boolean
  last: Pending
}

const PIPELINE = Symbol('requests of a connection')
type PipelinedSocket = Socket & { [PIPELINE]?: Pipeline }

/**
 * Bounds the work for one connection. A client may send requests without waiting for answers, and Node hands out all of
 * them at once, then reads on: one connection would fill the queues of the store, and keep the event loop from all others.
 * So a request begins at once only when it is the only one. Those behind it wait for a turn of their connection, in which
 * as many begin as the bound allows. Nothing more is read from a connection while some of its requests wait.
 */
export class Pipelines {
  private readonly turns: Turns

  constructor(
    private readonly maxInFlight: number,
    private readonly handle: Handler,
    newcomers: Newcomers,
  ) {
    this.turns = new Turns(newcomers)
  }

  /** Whether requests of this connection wait. */
  static hasWaiting(socket: PipelinedSocket): boolean {
    return (socket[PIPELINE]?.waiting.length ?? 0) > 0
  }

  /** Whether so many wait that no more are to be parsed. */
  static isFull(socket: PipelinedSocket): boolean {
    return (socket[PIPELINE]?.waiting.length ?? 0) >= MAX_WAITING
  }

  /** The request whose body is still arriving, and its answer, which may have been sent already. */
  static unfinished(socket: PipelinedSocket): Pending | undefined {
    const last = socket[PIPELINE]?.last
    return last?.request.complete ? undefined : last
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
    if (pipeline.inFlight === 0 && pipeline.waiting.length === 0) return this.begin(pipeline, last)
    pipeline.waiting.push(last)
    socket.pause()
    this.goOn(pipeline)
  }

  private mayBegin({ socket, inFlight }: Pipeline): boolean {
    // With answers that the client does not read, a further answer would only take memory.
    return inFlight === 0 || (inFlight < this.maxInFlight && !socket.writableNeedDrain)
  }

  private goOn(pipeline: Pipeline): void {
    if (pipeline.hasTurn || pipeline.waiting.length === 0 || !this.mayBegin(pipeline)) return
    pipeline.hasTurn = true
    this.turns.add(() => this.turnOf(pipeline))
  }

  private turnOf(pipeline: Pipeline): void {
    const { socket, waiting } = pipeline
    pipeline.hasTurn = false
    if (socket.destroyed) waiting.length = 0
    while (waiting.length > 0 && this.mayBegin(pipeline)) this.begin(pipeline, waiting.shift()!)
    // Else it goes on when an answer has left.
    if (waiting.length === 0) socket.resume()
  }

  private begin(pipeline: Pipeline, { request, response }: Pending): void {
    pipeline.inFlight++
    response.once('close', () => {
      pipeline.inFlight--
      this.goOn(pipeline)
    })
    // It may have been refused while it waited.
    if (!response.writableEnded) this.handle(request, response)
  }
}

function newPipeline(socket: Socket, last: Pending): Pipeline {
  const pipeline = { socket, inFlight: 0, waiting: [], hasTurn: false, last }
  // Node resumes a connection after each request, and after each answer.
  socket.on('resume', () => {
    if (pipeline.waiting.length > 0) socket.pause()
  })
  return pipeline
}
