import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Origin } from './origin.js'
import type { LoadRequest } from './request.js'
import { ResponseParser } from './response-parser.js'

export interface RequestInFlight {
  readonly request: LoadRequest
  readonly dueMs: number
  readonly sentMs: number
}

export interface ConnectionEvents {
  opened(connection: Connection): void
  /** A whole response arrived. The connection can be reused if `isUsable`. */
  answered(connection: Connection, flight: RequestInFlight, status: number, body: string): void
  /** The connection was lost, with the request in flight. `opened` is false when it was never established. */
  closed(connection: Connection, how: ClosedHow): void
}

export interface ClosedHow {
  flight: RequestInFlight | undefined
  opened: boolean
  isProtocol: boolean
}

const READ_BYTES = 65_536
// Each read is parsed to its end before the next one, so all connections can share the buffer.
const shared = Buffer.allocUnsafe(READ_BYTES)

/** One connection with at most one request in flight. */
export class Connection {
  flight: RequestInFlight | undefined
  private readonly parser = new ResponseParser()
  private readonly socket: Socket
  private isOpen = false
  private isGone = false

  constructor(
    origin: Origin,
    private readonly events: ConnectionEvents,
  ) {
    const onread = { buffer: shared, callback: (length: number) => this.read(length) }
    const { host, port } = origin
    const where = { host, port, noDelay: true, onread }
    const named = /^[\d.:]+$/.test(host) ? {} : { servername: host }
    this.socket = origin.isTls ? connectTls({ ...where, ...named }) : connect(where)
    this.socket.on(origin.isTls ? 'secureConnect' : 'connect', () => {
      this.isOpen = true
      events.opened(this)
    })
    this.socket.on('error', () => {})
    // A half-closed connection sends no further response.
    this.socket.on('end', () => this.ended())
    this.socket.on('close', () => this.gone(false))
  }

  send(flight: RequestInFlight): void {
    this.flight = flight
    this.parser.begin(flight.request.answered !== undefined)
    this.socket.write(flight.request.text, 'latin1')
  }

  /** Destroys the connection without notifying the listener. */
  abandon(): void {
    this.isGone = true
    this.socket.destroy()
  }

  private read(length: number): boolean {
    if (this.isGone) return true
    const { flight, parser } = this
    // Unexpected bytes: no request is in flight, or the response is not valid.
    if (flight === undefined) this.gone(true)
    else {
      const fed = parser.feed(shared, length)
      if (fed === 'bad') this.gone(true)
      else if (fed === 'done') this.finish(flight)
    }
    return true
  }

  private ended(): void {
    if (this.flight !== undefined && this.parser.endsByClose) this.finish(this.flight)
    this.socket.destroy()
  }

  private finish(flight: RequestInFlight): void {
    const { parser } = this
    this.flight = undefined
    if (!parser.keepsOpen || parser.endsByClose) this.abandon()
    this.events.answered(this, flight, parser.status, parser.body)
  }

  /** Whether another request may be sent on it. */
  get isUsable(): boolean {
    return !this.isGone && this.flight === undefined && this.isOpen && this.socket.writable
  }

  private gone(isProtocol: boolean): void {
    if (this.isGone) return
    this.isGone = true
    const { flight } = this
    this.flight = undefined
    this.socket.destroy()
    this.events.closed(this, { flight, opened: this.isOpen, isProtocol })
  }
}
