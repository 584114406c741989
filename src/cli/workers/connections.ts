import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { guarded } from '../../core/timers.js'
import { roomForConnections } from '../../server/http/connections.js'

/**
 * How connections get to the workers of one port. The supervisor accepts them and gives them to the workers in turn.
 * Node's own cluster does the same, but when workers close, it drops connections that it has accepted and not yet given
 * away, or that were on their way: their callers saw a reset in every stop.
 */
export interface Address {
  host: string
  port: number
}

export interface ListeningMessage {
  catraca: 'listening'
  port: number
}

const READY = { catraca: 'ready' } as const
const CONNECTION = { catraca: 'connection' } as const
/** Connections that are with no worker yet: more than a moment's worth means that the workers do not keep up. */
const MOST_HELD = Math.min(512, roomForConnections() ?? 512)
/** Of a stop, in which those who have connected so far are accepted. */
const MOST_TURNS = 1_000
const IDLE_TURNS = 3
const STOP = { catraca: 'stop' } as const

const isOf = (message: unknown, name: string): boolean =>
  (message as { catraca?: string } | null)?.catraca === name

export const isStop = (message: unknown): boolean => isOf(message, STOP.catraca)
export const isReady = (message: unknown): boolean => isOf(message, READY.catraca)

/** In the supervisor. */
export class Listener {
  private readonly server = createServer({ pauseOnConnect: true, allowHalfOpen: true })
  private readonly workers: Worker[] = []
  private accepted = 0
  private onTheirWay = 0
  /** Accepted while there was no worker. */
  private waiting: Socket[] = []

  constructor() {
    const accept = (socket: Socket) => {
      this.accepted++
      this.give(socket)
    }
    this.server.on('connection', guarded(accept))
  }

  async listen({ host, port }: Address): Promise<AddressInfo> {
    this.server.listen({ host, port })
    await once(this.server, 'listening')
    return this.server.address() as AddressInfo
  }

  add(worker: Worker): void {
    this.workers.push(worker)
    const waiting = this.waiting
    this.waiting = []
    for (const socket of waiting) this.give(socket)
  }

  drop(worker: Worker): void {
    const at = this.workers.indexOf(worker)
    if (at >= 0) this.workers.splice(at, 1)
  }

  /** Takes no more connections. */
  async close(): Promise<void> {
    // Right behind turns in which nobody waited to be accepted: the kernel resets those who do when the port closes. A turn
    // accepts one, and the turn of the signal none.
    let accepted = this.accepted
    for (let turn = 0, idle = 0; turn < MOST_TURNS && idle < IDLE_TURNS; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      idle = accepted === this.accepted ? idle + 1 : 0
      accepted = this.accepted
    }
    this.server.close()
    for (const socket of this.waiting) socket.destroy()
  }

  private give(socket: Socket): void {
    if (this.onTheirWay + this.waiting.length >= MOST_HELD) {
      socket.destroy()
      return
    }
    const worker = this.workers.find((one) => one.isConnected())
    if (worker === undefined) {
      this.waiting.push(socket)
      return
    }
    // In turn.
    this.drop(worker)
    this.workers.push(worker)
    this.onTheirWay++
    worker.process.send(CONNECTION, socket, { keepOpen: false }, () => this.onTheirWay--)
  }
}

/** By the way on which connections come, not by a signal: those that were given to it before come first. */
export function requestStop(worker: Worker): void {
  if (worker.isConnected()) worker.send(STOP)
  else worker.process.kill('SIGTERM')
}

/** In a worker: gets the connections that the supervisor gives it, and the port on which they came. */
export function takeConnections(take: (socket: Socket) => void): Promise<number> {
  return new Promise((resolve) => {
    const hear = (message: unknown, socket: unknown) => {
      if (isOf(message, 'listening')) resolve((message as ListeningMessage).port)
      // It may have been closed by its caller on the way.
      if (!isOf(message, CONNECTION.catraca) || socket === undefined) return
      // As Node's own HTTP server has its connections.
      Object.assign(socket as Socket, { allowHalfOpen: true })
      ;(socket as Socket).setNoDelay(true)
      take(socket as Socket)
    }
    process.on('message', guarded(hear))
    process.send!(READY)
  })
}
