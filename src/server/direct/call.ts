import type { Socket } from 'node:net'
import type { CheckFields } from './facts.js'
import type { DirectRoute, Params } from './routes.js'

type Fields = Record<string, string>

/** A request as its handler sees it: the parts of Fastify's that handlers of hot operations use. */
export interface DirectRequest {
  readonly id: string
  readonly params: Params
  readonly query: { allowlists?: string[] }
  readonly headers: Readonly<Fields>
  readonly body: unknown
  readonly raw: { readonly socket: Socket; readonly headers: { readonly authorization: string } }
  readonly isLogged: boolean
  /** How a check was answered, for the log. */
  check?: CheckFields | undefined
}

/** A call and its reply: the parts of Fastify's that handlers of hot operations use. */
export class DirectCall {
  statusCode: number
  /** What the handler has sent itself. */
  text: string | undefined
  /** From then on there is nothing to say any more. */
  isAnswered = false
  /** Headers of the handler. */
  readonly fields: Fields = {}
  private response: DirectResponse | undefined

  constructor(
    readonly route: DirectRoute,
    readonly request: DirectRequest,
    private readonly socket: Socket,
    /** 0 when the duration is not needed. */
    readonly startedAt: number,
  ) {
    this.statusCode = route.status
  }

  code(status: number): this {
    this.statusCode = status
    return this
  }

  header(name: string, value: string): this {
    this.fields[name] = value
    return this
  }

  headers(fields: Fields): this {
    Object.assign(this.fields, fields)
    return this
  }

  send(text: string): this {
    this.text = text
    return this
  }

  /** Only few handlers ask what becomes of their answer. */
  get raw(): DirectResponse {
    return (this.response ??= new DirectResponse(this.socket))
  }

  /** Whoever waits for the end of the answer; undefined when nobody does. */
  get watched(): DirectResponse | undefined {
    return this.response
  }
}

/** What handlers learn of the way of their answer, as from a response of Node. */
export class DirectResponse {
  writableFinished = false
  private readonly onClose: (() => void)[] = []
  private isClosed = false

  constructor(private readonly socket: Socket) {}

  get destroyed(): boolean {
    return this.socket.destroyed
  }

  once(_event: 'close', listener: () => void): void {
    this.onClose.push(listener)
  }

  /** The answer has left, or the connection is closed. */
  close(hasLeft: boolean): void {
    if (this.isClosed) return
    this.isClosed = true
    this.writableFinished = hasLeft
    for (const listener of this.onClose) listener()
  }
}
