import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { isPromise } from '../../core/maybe-promise.js'
import { reportFailure } from '../../core/timers.js'
import type { CheckAnswer } from '../../guards/allowlist/types.js'
import { sameText } from '../access/gate.js'
import type { KnownKey } from '../access/registry.js'
import { answerClientError } from '../http/client-error.js'
import { takeBefore, usableEvent } from '../http/connections.js'
import type { ServerContext } from '../http/context.js'
import { isServerFault } from '../http/problem.js'
import { answerJson } from './answer.js'
import { CheckRequest } from './check-request.js'
import { parseHeaders, splitHead } from './head.js'
import { httpDate } from './http-date.js'
import type { PlainCheck } from './query.js'
import { failureReply, JSON_TYPE } from './reply.js'

/**
 * Answers plain checks on the raw socket, as long as nothing else arrives on it: Node's HTTP objects cost more than
 * the check (figures in `docs/adr`). At the first chunk that is not a whole plain check with a valid key, the
 * connection and that chunk go to Node's HTTP server for good. `npm run proof -- http-paths` proves that the
 * responses are equal to those of the framework.
 */
export class RawCheckConnections {
  /** Connections that are idle between requests. */
  private readonly waiting = new Set<Socket>()

  constructor(context: ServerContext, server: Server) {
    if (context.settings.checkFastPath !== 'connection') return
    takeBefore(server, usableEvent(server), (socket, handOver) => {
      new CheckConnection(context, socket, this.waiting, handOver)
    })
  }

  /** Connections without any request yet are left to `Connections`. */
  closeIdle(): void {
    for (const socket of this.waiting) if (socket.bytesRead > 0) socket.destroySoon()
  }
}

/** A connection on which only plain checks have arrived so far. */
class CheckConnection {
  /** The last headers that were accepted, their registry epoch, and their meaning. */
  private headers = ''
  private epoch = -1
  private caller: KnownKey | undefined
  private requestId: string | undefined
  private hasAnswered = false
  private hasEnded = false
  private readonly keepAlive: string

  constructor(
    private readonly context: ServerContext,
    private readonly socket: Socket,
    private readonly waiting: Set<Socket>,
    private readonly attach: () => void,
  ) {
    const { keepAliveTimeoutMs, transferTimeoutMs } = context.settings
    this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n\r\n`
    waiting.add(socket)
    socket.setTimeout(transferTimeoutMs)
    socket.on('data', this.onData)
    socket.on('end', this.onEnd)
    socket.on('timeout', this.onTimeout)
    socket.on('error', this.onError)
    socket.on('close', this.onClose)
  }

  private readonly onData = (chunk: Buffer): void => {
    if (!this.answered(chunk)) this.handOver(chunk)
  }

  private readonly onEnd = (): void => {
    this.hasEnded = true
    // A client that half-closed its connection after a request still gets the response.
    if (this.waiting.has(this.socket)) this.socket.end()
  }

  private readonly onTimeout = (): void => {
    // As Node's server does: a 408 before the first request, a close without a response after it.
    if (this.hasAnswered) this.socket.destroy()
    else answerClientError({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, this.socket)
  }

  private readonly onError = (): void => {
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
    return this.ask(head.check)
  }

  /** Requests of one connection mostly repeat their headers, so equal headers are parsed once. */
  private admits(headers: string): boolean {
    const { gate, registry, catraca } = this.context
    if (!gate.isLocked()) return false
    if (this.epoch === registry.epoch && sameText(this.headers, headers)) {
      this.caller!.isUsed = true
      return true
    }
    const parsed = parseHeaders(headers, catraca.tracing.spans !== undefined)
    const caller = parsed === undefined ? undefined : gate.identify(this.socket, parsed.authorization)
    if (!caller?.scopes.has('check')) return false
    caller.isUsed = true
    this.headers = headers
    this.epoch = registry.epoch
    this.caller = caller
    this.requestId = parsed?.requestId
    return true
  }

  /** False for a mistake of the caller, which the framework reports. */
  private ask({ customerId, allowlists }: PlainCheck): boolean {
    const checkRequest = new CheckRequest(this.context, this.requestId, customerId)
    try {
      const answer = this.context.catraca.allowlists.checkNow(customerId, allowlists)
      checkRequest.asked()
      if (isPromise(answer)) this.wait(answer, checkRequest)
      else this.send(answer, checkRequest)
      return true
    } catch (error) {
      const reply = failureReply(error, checkRequest.requestId)
      if (!isServerFault(reply.status)) return false
      this.sendFailure(error, checkRequest, reply)
      return true
    }
  }

  private wait(pending: Promise<CheckAnswer>, checkRequest: CheckRequest): void {
    const { socket } = this
    socket.pause()
    // The store has its own time limits.
    socket.setTimeout(0)
    this.waiting.delete(socket)
    pending
      .then(
        (answer) => this.send(answer, checkRequest),
        (error) => this.sendFailure(error, checkRequest),
      )
      .then(() => this.goOn())
      .catch((error) => {
        reportFailure(error)
        socket.destroy()
      })
  }

  private goOn(): void {
    const { socket } = this
    // If the client has disconnected, nothing would remove it from the set again.
    if (socket.destroyed) return
    this.waiting.add(socket)
    if (this.hasEnded) socket.end()
    else if (!socket.writableNeedDrain) socket.resume()
  }

  private send(answer: CheckAnswer, checkRequest: CheckRequest): void {
    const json = answerJson(answer)
    this.write(
      `HTTP/1.1 200 OK\r\nx-request-id: ${checkRequest.requestId}\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\ncontent-type: ${JSON_TYPE}\r\ncontent-length: ${json.length}\r\nDate: ${httpDate()}\r\n${this.keepAlive}${json}`,
      'latin1',
    )
    checkRequest.end(200, this.caller, { answer })
  }

  private sendFailure(
    error: unknown,
    checkRequest: CheckRequest,
    reply = failureReply(error, checkRequest.requestId),
  ): void {
    const { status, headers, body } = reply
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
    this.write(`${head}Date: ${httpDate()}\r\n${this.keepAlive}${body}`, 'utf8')
    checkRequest.end(status, this.caller, { error })
  }

  private write(text: string, encoding: BufferEncoding): void {
    const { socket } = this
    if (!this.hasAnswered || socket.timeout === 0) socket.setTimeout(this.context.settings.keepAliveTimeoutMs)
    this.hasAnswered = true
    if (socket.write(text, encoding)) return
    // A client that sends requests without reading responses must not fill the memory.
    socket.pause()
    socket.once('drain', () => socket.resume())
  }

  private handOver(chunk: Buffer): void {
    const { socket } = this
    this.waiting.delete(socket)
    if (socket.destroyed) return
    socket.setTimeout(0)
    socket.off('data', this.onData)
    socket.off('end', this.onEnd)
    socket.off('timeout', this.onTimeout)
    socket.off('error', this.onError)
    socket.off('close', this.onClose)
    socket.unshift(chunk)
    this.attach()
    socket.resume()
  }
}
