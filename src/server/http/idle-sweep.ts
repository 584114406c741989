import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { every } from '../../core/timers.js'
import type { ServerSettings } from '../options.js'
import { usableEvent } from './connections.js'
import { Pipelines } from './pipelines.js'

type Bounds = Pick<ServerSettings, 'transferTimeoutMs' | 'keepAliveTimeoutMs'>

/** A connection as it was when it was looked at for the first time after its last answer. */
interface Idle {
  last: ServerResponse | undefined
  bytesRead: number
  /** Whether something has come since then, which must become a request. */
  isReceiving: boolean
  looks: number
}

const MOST_BETWEEN_LOOKS_MS = 1_000

/** How often connections are looked at. */
export function lookEveryMs({ transferTimeoutMs, keepAliveTimeoutMs }: Bounds): number {
  return Math.min(MOST_BETWEEN_LOOKS_MS, Math.ceil(Math.min(transferTimeoutMs, keepAliveTimeoutMs) / 4))
}

/**
 * Closes connections that are owed nothing and do not ask for anything in time. Node's timers do that too, more exactly,
 * but each knows only one kind of silence: empty lines, or a body behind its answer, are none of these.
 *
 * Time is counted in looks: if the process stood still, callers have not used up their time.
 */
export class IdleSweep {
  private readonly connections = new Map<Socket, Idle>()
  private readonly timer: NodeJS.Timeout
  private readonly maxLooksReceiving: number
  private readonly maxLooksIdle: number

  /** Before others take connections of the server: those that they keep are not looked at. */
  constructor(server: Server, bounds: Bounds) {
    const everyMs = lookEveryMs(bounds)
    // One more, so that Node comes first and can say why.
    this.maxLooksReceiving = Math.ceil(bounds.transferTimeoutMs / everyMs) + 1
    this.maxLooksIdle = Math.ceil(bounds.keepAliveTimeoutMs / everyMs) + 1
    server.on(usableEvent(server), (socket: Socket) => {
      this.connections.set(socket, { last: undefined, bytesRead: 0, isReceiving: true, looks: 0 })
      socket.once('close', () => this.connections.delete(socket))
    })
    this.timer = every(() => this.look(), everyMs).unref()
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private look(): void {
    for (const [socket, idle] of this.connections) {
      const last = Pipelines.lastAnswer(socket)
      if (last !== idle.last || last?.writableFinished === false) restart(idle, socket)
      else if (!idle.isReceiving && socket.bytesRead !== idle.bytesRead) {
        idle.isReceiving = true
        idle.looks = 0
      } else if (++idle.looks > (idle.isReceiving ? this.maxLooksReceiving : this.maxLooksIdle))
        socket.destroy()
    }
  }
}

function restart(idle: Idle, socket: Socket): void {
  idle.last = Pipelines.lastAnswer(socket)
  idle.bytesRead = socket.bytesRead
  idle.isReceiving = false
  idle.looks = 0
}
