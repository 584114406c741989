import type { Server, Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { CatracaError } from '../../core/errors.js'
import { guarded } from '../../core/timers.js'
import type { ConnectionFigures } from '../../metrics/index.js'
import { processFigures } from '../../metrics/process-figures.js'
import type { Newcomers } from './turns.js'

/** Enough for any service. Without a limit of the system, clients could open connections without end. */
const MOST_BY_DEFAULT = 10_000
/** File descriptors reserved for stores, threads, certificates and spooled imports. */
const SPARE_FILES = 256

/**
 * How many connections the file descriptor limit allows, after the descriptors that are open now and the reserved
 * ones; undefined where the system does not report them.
 */
export function roomForConnections({ openFiles, maxFiles } = processFigures()): number | undefined {
  if (openFiles === undefined || maxFiles === undefined) return undefined
  const left = maxFiles - openFiles
  return Math.max(1, left - Math.min(SPARE_FILES, Math.ceil(left / 2)))
}

function limitOf(wanted: number | undefined): number {
  const room = roomForConnections()
  if (wanted === undefined) return Math.min(MOST_BY_DEFAULT, room ?? MOST_BY_DEFAULT)
  if (room === undefined || wanted <= room) return wanted
  throw new CatracaError(
    'CONFIG_INVALID',
    `server.maxConnections is ${wanted}, but the file descriptor limit of this process allows only ${room}: raise it (ulimit -n)`,
  )
}

/** Whoever has just connected is about to send a request, and must not be cut off before. */
const IDLE_GRACE_MS = 1_000

/** The open connections of a server, limited in number. */
export class Connections implements ConnectionFigures {
  readonly limit: number
  refused = 0
  private onAllClosed: () => void = () => {}
  /** Open sockets, with the time at which each was accepted. */
  private readonly open = new Map<Socket, number>()
  /**
   * Sockets that carry requests, with the time at which each became ready. With TLS these differ from the accepted
   * sockets.
   */
  private readonly usable = new Map<Socket, number>()

  constructor(
    server: Server,
    maxConnections: number | undefined,
    private readonly onRefused: (refused: number) => void,
    private readonly newcomers: Newcomers,
  ) {
    this.limit = limitOf(maxConnections)
    takeBefore(server, 'connection', (socket, next) => {
      if (this.admits(socket)) next()
    })
    server.on(usableEvent(server), (socket: Socket) => {
      this.usable.set(socket, performance.now())
      socket.once('close', () => this.usable.delete(socket))
    })
  }

  get count(): number {
    return this.open.size
  }

  private admits(socket: Socket): boolean {
    this.newcomers.count++
    if (this.open.size >= this.limit) {
      socket.destroy()
      this.onRefused(++this.refused)
      return false
    }
    this.open.set(socket, performance.now())
    socket.once('close', () => {
      this.open.delete(socket)
      if (this.open.size === 0) this.onAllClosed()
    })
    return true
  }

  allClosed(): Promise<void> {
    if (this.open.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.onAllClosed = resolve
    })
  }

  /** Node counts a connection as idle only between requests. One that stays silent from the start is idle too. */
  closeIdle(): void {
    const before = performance.now() - IDLE_GRACE_MS
    for (const sockets of [this.open, this.usable]) {
      for (const [socket, since] of sockets) {
        if (socket.bytesRead === 0 && since < before) socket.destroySoon()
      }
    }
  }

  closeAll(): void {
    for (const socket of this.open.keys()) socket.destroy()
  }
}

/** The event for connections that are ready for requests. */
export function usableEvent(server: Server): 'connection' | 'secureConnection' {
  return (server as unknown) instanceof TlsServer ? 'secureConnection' : 'connection'
}

/** Receives the connections of a server before its present listeners. */
export function takeBefore(
  server: Server,
  event: 'connection' | 'secureConnection',
  take: (socket: Socket, next: () => void) => void,
): void {
  const listeners = server.listeners(event) as ((socket: Socket) => void)[]
  server.removeAllListeners(event)
  const onConnection = (socket: Socket) =>
    take(socket, () => {
      for (const listener of listeners) listener.call(server, socket)
    })
  server.on(event, guarded(onConnection))
}
