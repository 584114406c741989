import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Pending {
  request: IncomingMessage
  response: ServerResponse
}

interface Pipeline {
  inFlight: number
  waiting: Pending[]
  last: Pending
  /** `bytesRead` of the socket when the last response was sent. */
  bytesRead: number
}

const PIPELINE = Symbol('requests of a connection')
type PipelinedSocket = Socket & { [PIPELINE]?: Pipeline }

/**
 * Limits the requests in flight of one connection. A client may pipeline any number of requests, and Node hands all
 * of them out at once, so one client could fill the queues of the store. Requests beyond the limit wait, and the
 * connection is not read while some of its requests wait.
 */
export class Pipelines {
  constructor(
    private readonly maxInFlight: number,
    private readonly handle: Handler,
  ) {}

  /** Whether every request on this connection is answered. A connection without any request yet is not idle. */
  static isIdle(socket: PipelinedSocket): boolean {
    const pipeline = socket[PIPELINE]
    return pipeline?.inFlight === 0 && pipeline.bytesRead === socket.bytesRead
  }

  /** The pending response of a request whose body is still arriving. */
  static unfinished(socket: PipelinedSocket): ServerResponse | undefined {
    const last = socket[PIPELINE]?.last
    return last === undefined || last.request.complete ? undefined : last.response
  }

  /** Calls `act` when all requests on this connection are answered. Responses leave in the order of requests. */
  static whenAnswered(socket: PipelinedSocket, act: () => void): void {
    const last = socket[PIPELINE]?.last.response
    if (last === undefined || last.writableFinished) act()
    // Runs before Node closes a connection that will receive nothing more.
    else last.prependOnceListener('finish', act)
  }

  readonly take: Handler = (request, response) => {
    const socket: PipelinedSocket = request.socket
    const last = { request, response }
    const pipeline = (socket[PIPELINE] ??= { inFlight: 0, waiting: [], last, bytesRead: 0 })
    pipeline.last = last
    if (pipeline.inFlight < this.maxInFlight) this.begin(pipeline, last)
    else {
      pipeline.waiting.push(last)
      socket.pause()
    }
  }

  private begin(pipeline: Pipeline, { request, response }: Pending): void {
    pipeline.inFlight++
    response.once('close', () => {
      pipeline.inFlight--
      pipeline.bytesRead = request.socket.bytesRead
      this.next(pipeline, request.socket)
    })
    // It may have been refused while it waited.
    if (!response.writableEnded) this.handle(request, response)
  }

  private next(pipeline: Pipeline, socket: Socket): void {
    const { waiting } = pipeline
    if (waiting.length === 0) return
    if (socket.destroyed) waiting.length = 0
    else {
      const pending = waiting.shift()!
      if (waiting.length === 0) socket.resume()
      this.begin(pipeline, pending)
    }
  }
}
