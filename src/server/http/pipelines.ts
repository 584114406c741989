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
  /** When the last answer was sent, and what was read of the connection until then. */
  answeredAtMs: number
  bytesRead: number
}

const PIPELINE = Symbol('requests of a connection')
type PipelinedSocket = Socket & { [PIPELINE]?: Pipeline }

/**
 * Bounds what is under way for one connection. A caller may send requests without waiting for answers, as many as fit,
 * and Node hands out all of them at once: one caller would fill the queues of the store for everybody else. So those
 * beyond the bound wait, and nothing more is read from a connection while some of its requests wait.
 */
export class Pipelines {
  constructor(
    private readonly maxInFlight: number,
    private readonly handle: Handler,
  ) {}

  /** Whether all that came over this connection is answered. One over which nothing has come yet is not idle. */
  static isIdle(socket: PipelinedSocket): boolean {
    const pipeline = socket[PIPELINE]
    return pipeline?.inFlight === 0 && pipeline.bytesRead === socket.bytesRead
  }

  /** Whether all is answered, and has been for some time, and only the rest of a body is missing, which nobody reads. */
  static awaitsOnlyBody(socket: PipelinedSocket, answeredBeforeMs: number): boolean {
    const pipeline = socket[PIPELINE]
    return (
      pipeline?.inFlight === 0 && !pipeline.last.request.complete && pipeline.answeredAtMs < answeredBeforeMs
    )
  }

  /** The answer that is owed to a request whose body is still on its way. */
  static unfinished(socket: PipelinedSocket): ServerResponse | undefined {
    const last = socket[PIPELINE]?.last
    return last === undefined || last.request.complete ? undefined : last.response
  }

  /** Acts when everything that was asked on this connection is answered: answers leave in the order of requests. */
  static whenAnswered(socket: PipelinedSocket, act: () => void): void {
    const last = socket[PIPELINE]?.last.response
    if (last === undefined || last.writableFinished) act()
    // Before Node ends a connection over which nothing more will come.
    else last.prependOnceListener('finish', act)
  }

  readonly take: Handler = (request, response) => {
    const socket: PipelinedSocket = request.socket
    const last = { request, response }
    const pipeline = (socket[PIPELINE] ??= { inFlight: 0, waiting: [], last, answeredAtMs: 0, bytesRead: 0 })
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
      pipeline.answeredAtMs = performance.now()
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
