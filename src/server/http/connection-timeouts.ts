import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { every } from '../../core/timers.js'
import type { ServerSettings } from '../options.js'
import { answerClientError } from './client-error.js'
import { usableEvent } from './connections.js'
import { Pipelines } from './pipelines.js'

type Bounds = Pick<ServerSettings, 'transferTimeoutMs' | 'keepAliveTimeoutMs'>

/** What a connection is waited for. */
type Phase =
  /** Nothing: the server works on a request, or sends its answer. */
  | 'working'
  /** The body of a request without an answer. */
  | 'body'
  /** The rest of a body that nobody reads, because its request is answered. */
  | 'rest'
  /** Something after an answer. */
  | 'idle'
  /** A whole request, of which something may have come. */
  | 'request'

/** A connection as it was when it was seen in its present phase for the first time. */
interface Seen {
  phase: Phase
  last: ServerResponse | undefined
  bytesRead: number
  looks: number
}

const UNTIMED = Symbol('body without a deadline')
type UntimedRequest = IncomingMessage & { [UNTIMED]?: true }

/** The body of this request may take any time: it is an import. */
export function takesItsTime(request: UntimedRequest): void {
  request[UNTIMED] = true
}

const MOST_BETWEEN_LOOKS_MS = 1_000

/** How often connections are looked at. */
export function lookEveryMs({ transferTimeoutMs, keepAliveTimeoutMs }: Bounds): number {
  return Math.min(MOST_BETWEEN_LOOKS_MS, Math.ceil(Math.min(transferTimeoutMs, keepAliveTimeoutMs) / 4))
}

/**
 * Closes connections that do not send in time what they are waited for. Node's timers do that for headers, but each
 * knows only one kind of silence: empty lines, or a body behind its answer, are none of these.
 *
 * Time is counted in looks: if the process stood still, callers have not used up their time.
 */
export class ConnectionTimeouts {
  private readonly connections = new Map<Socket, Seen>()
  private readonly timer: NodeJS.Timeout
  private readonly maxLooks: Record<Phase, number>

  /** Before others take connections of the server: those that they keep are not looked at. */
  constructor(server: Server, bounds: Bounds) {
    const everyMs = lookEveryMs(bounds)
    // One more, so that Node comes first for headers that are late, and can say why.
    const transfer = Math.ceil(bounds.transferTimeoutMs / everyMs) + 1
    const idle = Math.ceil(bounds.keepAliveTimeoutMs / everyMs) + 1
    this.maxLooks = {
      working: Number.POSITIVE_INFINITY,
      body: transfer,
      rest: transfer,
      idle,
      request: transfer,
    }
    server.on(usableEvent(server), (socket: Socket) => {
      this.connections.set(socket, { phase: 'request', last: undefined, bytesRead: 0, looks: 0 })
      socket.once('close', () => this.connections.delete(socket))
    })
    this.timer = every(() => this.look(), everyMs).unref()
  }

  /** A server that closes waits for no body behind its answer, after a look: closing at once would lose the answer. */
  close(): void {
    this.maxLooks.rest = 0
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private look(): void {
    for (const [socket, seen] of this.connections) {
      const last = Pipelines.lastAnswer(socket)
      const phase = phaseOf(socket, seen)
      if (phase !== seen.phase || last !== seen.last)
        this.connections.set(socket, { phase, last, bytesRead: socket.bytesRead, looks: 0 })
      else if (++seen.looks <= this.maxLooks[phase]) continue
      else if (phase === 'body') answerClientError({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket)
      else socket.destroy()
    }
  }
}

function phaseOf(socket: Socket, seen: Seen): Phase {
  const last = Pipelines.lastAnswer(socket)
  if (last === undefined) return 'request'
  const request: UntimedRequest | undefined = Pipelines.unfinished(socket)?.request
  if (request !== undefined && last.writableFinished) return 'rest'
  if (!last.writableFinished)
    return request === undefined || request[UNTIMED] || Pipelines.hasWaiting(socket) ? 'working' : 'body'
  const hasCome = seen.phase === 'request' || (seen.phase === 'idle' && seen.bytesRead !== socket.bytesRead)
  return hasCome && last === seen.last ? 'request' : 'idle'
}
