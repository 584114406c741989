import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { Principal } from '../../access/keys.js'
import type { CheckAnswer } from '../../allowlist/types.js'
import { isPromise } from '../../maybe.js'
import { sameText } from '../access/gate.js'
import type { ServerContext } from '../context.js'
import { answerJson } from './answer.js'
import { parseHeaders, splitHead } from './head.js'
import { httpDate } from './http-date.js'
import type { PlainCheck } from './query.js'
import { failedVisits, Visit } from './visit.js'

type Attach = (socket: Socket) => void

/**
 * Answers plain checks on the connection itself, as long as nothing else comes over it: Node's HTTP objects cost
 * more than the check (`docs/adr` has the figures). It only ever says 200. At the first byte that is not a plain
 * check by a good key in one piece, the connection goes to Node's HTTP server, with that byte, and stays there.
 */
export class SocketDoor {
  /** Connections that wait here for their next request. */
  private readonly waiting = new Set<Socket>()

  constructor(context: ServerContext, server: Server) {
    const event = (server as unknown) instanceof TlsServer ? 'secureConnection' : 'connection'
    const [attach, ...others] = server.listeners(event) as Attach[]
    // Another version of Node may do this in another way: then it does it alone.
    if (attach === undefined || others.length > 0) return
    server.off(event, attach)
    server.on(event, (socket: Socket) => {
      new CheckConnection(context, socket, this.waiting, () => attach.call(server, socket))
    })
  }

  closeIdle(): void {
    for (const socket of this.waiting) socket.destroy()
  }
}

/** A connection over which only plain checks have come so far. */
class CheckConnection {
  /** The headers that were last found good, in which registry epoch, and what they say. */
  private headers = ''
  private epoch = -1
  private caller: Principal | undefined
  private requestId: string | undefined
  private hasEnded = false
  private readonly keepAlive: string

  constructor(
    private readonly context: ServerContext,
    private readonly socket: Socket,
    private readonly waiting: Set<Socket>,
    private readonly attach: () => void,
  ) {
    const { keepAliveTimeoutMs } = context.settings
    this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n\r\n`
    waiting.add(socket)
    socket.setTimeout(keepAliveTimeoutMs)
    socket.on('data', this.onData)
    socket.on('end', this.onEnd)
    socket.on('timeout', this.onGone)
    socket.on('error', this.onGone)
    socket.on('close', this.onClose)
  }

  private readonly onData = (chunk: Buffer): void => {
    if (!this.answered(chunk)) this.handOver(chunk)
  }

  private readonly onEnd = (): void => {
    this.hasEnded = true
    // Whoever asked last and then stopped talking still gets the answer.
    if (this.waiting.has(this.socket)) this.socket.end()
  }

  private readonly onGone = (): void => {
    this.socket.destroy()
  }

  private readonly onClose = (): void => {
    this.waiting.delete(this.socket)
  }

  private answered(chunk: Buffer): boolean {
    const { stopping, settings } = this.context
    if (stopping || chunk.length > settings.headerLimitBytes) return false
    const head = splitHead(chunk.toString('latin1'))
    if (head === undefined || !this.admits(head.headers)) return false
    return this.ask(head.check, chunk)
  }

  /** Requests on one connection mostly repeat their headers, so these are read once. */
  private admits(headers: string): boolean {
    const { gate, registry, catraca } = this.context
    if (!gate.isLocked()) return false
    if (this.epoch === registry.epoch && sameText(this.headers, headers)) return true
    const parsed = parseHeaders(headers, catraca.tracing.spans !== undefined)
    const caller = parsed === undefined ? undefined : gate.identify(this.socket, parsed.authorization)
    if (!caller?.scopes.has('check')) return false
    this.headers = headers
    this.epoch = registry.epoch
    this.caller = caller
    this.requestId = parsed?.requestId
    return true
  }

  private ask({ customerId, allowlists }: PlainCheck, chunk: Buffer): boolean {
    const visit = new Visit(this.context, this.requestId, customerId)
    try {
      const answer = this.context.catraca.allowlists.checkNow(customerId, allowlists)
      visit.asked()
      if (isPromise(answer)) this.wait(answer, visit, chunk)
      else this.send(answer, visit)
      return true
    } catch (error) {
      this.failed(error, visit)
      return false
    }
  }

  private wait(pending: Promise<CheckAnswer>, visit: Visit, chunk: Buffer): void {
    this.socket.pause()
    this.waiting.delete(this.socket)
    pending.then(
      (answer) => {
        this.waiting.add(this.socket)
        this.send(answer, visit)
        if (this.hasEnded) this.socket.end()
        else this.socket.resume()
      },
      (error) => {
        this.failed(error, visit)
        this.handOver(chunk)
      },
    )
  }

  /** The long way knows how to say what is wrong. */
  private failed(error: unknown, visit: Visit): void {
    failedVisits.set(this.socket, { visit, caller: this.caller, error })
  }

  private send(answer: CheckAnswer, visit: Visit): void {
    const json = answerJson(answer)
    const isFlushed = this.socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${json.length}\r\ncache-control: no-store\r\nx-request-id: ${visit.requestId}\r\nDate: ${httpDate()}\r\n${this.keepAlive}${json}`,
      'latin1',
    )
    visit.end(200, this.caller, { answer })
    if (isFlushed) return
    // A caller who asks and does not listen must not fill the memory with answers.
    this.socket.pause()
    this.socket.once('drain', () => this.socket.resume())
  }

  private handOver(chunk: Buffer): void {
    const { socket } = this
    this.waiting.delete(socket)
    if (socket.destroyed) return
    if (this.hasEnded) {
      // Node takes no connection whose other end is gone.
      socket.destroy()
      return
    }
    socket.setTimeout(0)
    socket.off('data', this.onData)
    socket.off('end', this.onEnd)
    socket.off('timeout', this.onGone)
    socket.off('error', this.onGone)
    socket.off('close', this.onClose)
    socket.unshift(chunk)
    this.attach()
    socket.resume()
  }
}
