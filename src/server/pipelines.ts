import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Pipeline {
  inFlight: number
  waiting: [IncomingMessage, ServerResponse][]
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

  /** Whether answers are owed on this connection. */
  static isBusy(socket: PipelinedSocket): boolean {
    return (socket[PIPELINE]?.inFlight ?? 0) > 0
  }

  readonly take: Handler = (request, response) => {
    const socket: PipelinedSocket = request.socket
    const pipeline = (socket[PIPELINE] ??= { inFlight: 0, waiting: [] })
    if (pipeline.inFlight < this.maxInFlight) this.begin(pipeline, request, response)
    else {
      pipeline.waiting.push([request, response])
      socket.pause()
    }
  }

  private begin(pipeline: Pipeline, request: IncomingMessage, response: ServerResponse): void {
    pipeline.inFlight++
    response.once('close', () => {
      pipeline.inFlight--
      this.next(pipeline, request.socket)
    })
    this.handle(request, response)
  }

  private next(pipeline: Pipeline, socket: Socket): void {
    const { waiting } = pipeline
    if (waiting.length === 0) return
    if (socket.destroyed) waiting.length = 0
    else {
      const [request, response] = waiting.shift()!
      if (waiting.length === 0) socket.resume()
      this.begin(pipeline, request, response)
    }
  }
}
