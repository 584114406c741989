import { type ClosedHow, Connection, type ConnectionEvents, type RequestInFlight } from './connection.js'
import type { Origin } from './origin.js'
import { Queue } from './queue.js'
import type { FailureKind, LoadObserver, LoadRequest } from './request.js'

export interface PoolOptions {
  /** Connections opened at the start. */
  connections: number
  /** Most connections; more are opened when all are busy. */
  maxConnections: number
  timeoutMs: number
}

interface PendingRequest {
  request: LoadRequest
  dueMs: number
  noticedMs: number
}

/** Limit of requests that wait for a connection. Beyond it requests fail unsent: the server has stalled. */
const MAX_WAITING = 500_000

/** The connections, and the requests that wait because all are busy. */
export class Pool implements ConnectionEvents {
  private readonly all = new Set<Connection>()
  /** Last in, first out: few connections do most of the work and stay warm. */
  private readonly free: Connection[] = []
  private readonly waiting = new Queue<PendingRequest>()
  private opening = 0
  private isClosed = false
  peak = 0

  constructor(
    private readonly origin: Origin,
    private readonly options: PoolOptions,
    private readonly observer: LoadObserver,
  ) {}

  /** Resolves when every initial connection was opened or has failed. */
  async warmUp(): Promise<void> {
    for (let i = 0; i < this.options.connections; i++) this.open()
    while (this.opening > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  get inFlight(): number {
    return this.all.size - this.opening - this.free.length
  }

  /** No request is in flight or waiting. */
  get isIdle(): boolean {
    return this.waiting.length === 0 && this.inFlight === 0
  }

  /** Sends the request now, or as soon as a connection is free. */
  submit(request: LoadRequest, dueMs: number, noticedMs: number): void {
    const connection = this.free.pop()
    if (connection !== undefined) {
      this.send(connection, { request, dueMs, noticedMs }, performance.now())
      return
    }
    if (this.waiting.length >= MAX_WAITING)
      this.observer.failed(request, 'unsent', dueMs, undefined, noticedMs)
    else this.waiting.push({ request, dueMs, noticedMs })
    this.grow()
  }

  /** Fails requests that timed out. Called a few times a second: a timer for each request would cost more. */
  expire(nowMs: number): void {
    const { timeoutMs } = this.options
    for (const connection of this.all) {
      const { flight } = connection
      if (flight === undefined || flight.sentMs + timeoutMs > nowMs) continue
      connection.abandon()
      this.all.delete(connection)
      this.fail(flight, 'timeout', nowMs)
    }
    for (
      let head = this.waiting.peek();
      head && head.dueMs + timeoutMs <= nowMs;
      head = this.waiting.peek()
    ) {
      this.waiting.shift()
      this.observer.failed(head.request, 'timeout', head.dueMs, undefined, nowMs)
    }
    this.grow()
  }

  /** Closes all connections; requests in flight count as timed out, waiting ones as unsent. */
  close(nowMs: number): void {
    this.isClosed = true
    for (const connection of this.all) {
      connection.abandon()
      if (connection.flight !== undefined) this.fail(connection.flight, 'timeout', nowMs)
    }
    this.all.clear()
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      this.observer.failed(next.request, 'unsent', next.dueMs, undefined, nowMs)
    }
  }

  opened(connection: Connection): void {
    this.opening--
    this.release(connection)
  }

  answered(connection: Connection, flight: RequestInFlight, status: number, body: string): void {
    const endMs = performance.now()
    const { request, dueMs, sentMs } = flight
    this.observer.answered(request, dueMs, sentMs, endMs, status)
    request.answered?.(status, body)
    if (connection.isUsable) this.release(connection)
    else this.forget(connection)
  }

  closed(connection: Connection, { flight, opened, isProtocol }: ClosedHow): void {
    if (!opened) this.opening--
    const nowMs = performance.now()
    if (flight !== undefined) this.fail(flight, isProtocol ? 'protocol' : 'reset', nowMs)
    if (!opened) {
      // Each failed attempt fails one request, so that the pool does not reconnect to a dead server without end.
      const first = this.waiting.shift()
      if (first !== undefined) this.observer.failed(first.request, 'refused', first.dueMs, undefined, nowMs)
    }
    const place = this.free.indexOf(connection)
    if (place >= 0) this.free.splice(place, 1)
    this.forget(connection)
  }

  private forget(connection: Connection): void {
    this.all.delete(connection)
    this.grow()
  }

  private release(connection: Connection): void {
    const next = this.waiting.shift()
    if (next === undefined) this.free.push(connection)
    else this.send(connection, next, performance.now())
  }

  private send(connection: Connection, { request, dueMs, noticedMs }: PendingRequest, sentMs: number): void {
    this.observer.sent(dueMs, noticedMs, sentMs)
    connection.send({ request, dueMs, sentMs })
  }

  private fail({ request, dueMs, sentMs }: RequestInFlight, kind: FailureKind, nowMs: number): void {
    this.observer.failed(request, kind, dueMs, sentMs, nowMs)
  }

  private grow(): void {
    const { maxConnections } = this.options
    while (!this.isClosed && this.opening < this.waiting.length && this.all.size < maxConnections) this.open()
  }

  private open(): void {
    this.opening++
    this.all.add(new Connection(this.origin, this))
    this.peak = Math.max(this.peak, this.all.size)
  }
}
