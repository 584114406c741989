import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { guarded } from '../../core/timers.js'
import { roomForConnections } from '../../server/http/connections.js'

/**
 * How connections reach the workers of one port. The supervisor accepts them and passes them to the workers in turn.
 * Node's cluster module does the same, but when workers close, it drops connections that it has accepted and not
 * passed on yet, or that are in transit: at every stop some clients saw a reset.
 */
export interface Address {
  host: string
  port: number
}

/** The ports of a server. */
type Protocol = 'http' | 'grpc'
export type Addresses = { readonly http: Address; readonly grpc?: Address | undefined }
type Ports = { readonly http: number; readonly grpc?: number | undefined }

export interface ListeningMessage {
  catraca: 'listening'
  ports: Ports
}

const READY = { catraca: 'ready' } as const
const CONNECTION = 'connection'
/** Limit of accepted connections that no worker has yet. More of them means that the workers do not keep up. */
const MOST_HELD = Math.min(512, roomForConnections() ?? 512)
/** Limit of event loop turns during a stop, in which pending connections are still accepted. */
const MOST_TURNS = 1_000
const IDLE_TURNS = 3
const STOP = { catraca: 'stop' } as const

const isOf = (message: unknown, name: string): boolean =>
  (message as { catraca?: string } | null)?.catraca === name

export const isStop = (message: unknown): boolean => isOf(message, STOP.catraca)
export const isReady = (message: unknown): boolean => isOf(message, READY.catraca)

/** Runs in the supervisor. */
export class Listener {
  private readonly server = createServer({ pauseOnConnect: true, allowHalfOpen: true })
  private readonly workers: Worker[] = []
  private accepted = 0
  private onTheirWay = 0
  /** Connections accepted while there was no worker. */
  private waiting: Socket[] = []

  constructor(private readonly protocol: Protocol) {
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

  /** Stops accepting connections. */
  async close(): Promise<void> {
    // Closes only after several turns without a new connection: when the port closes, the kernel resets connections
    // that wait to be accepted. Each turn accepts one connection, and the turn of the signal none.
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
    // Round robin: the worker moves to the end of the list.
    this.drop(worker)
    this.workers.push(worker)
    this.onTheirWay++
    worker.process.send(
      { catraca: CONNECTION, protocol: this.protocol },
      socket,
      { keepOpen: false },
      () => this.onTheirWay--,
    )
  }
}

/** Sent as a message, not as a signal: messages are ordered, so connections that were passed before arrive first. */
export function requestStop(worker: Worker): void {
  if (worker.isConnected()) worker.send(STOP)
  else worker.process.kill('SIGTERM')
}

/** Runs in a worker: receives connections from the supervisor, and the ports on which they arrive. */
export function takeConnections(take: Readonly<Record<Protocol, (socket: Socket) => void>>): Promise<Ports> {
  return new Promise((resolve) => {
    const hear = (message: unknown, socket: unknown) => {
      if (isOf(message, 'listening')) resolve((message as ListeningMessage).ports)
      // The client may have closed it in transit.
      if (!isOf(message, CONNECTION) || socket === undefined) return
      // Node's HTTP server creates its sockets with this option.
      Object.assign(socket as Socket, { allowHalfOpen: true })
      ;(socket as Socket).setNoDelay(true)
      take[(message as { protocol: Protocol }).protocol](socket as Socket)
    }
    process.on('message', guarded(hear))
    process.send!(READY)
  })
}
