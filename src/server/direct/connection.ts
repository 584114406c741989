import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isPromise } from '../../core/maybe-promise.js'
import { reportFailure } from '../../core/timers.js'
import { answerClientError } from '../http/client-error.js'
import { takeBefore, usableEvent } from '../http/connections.js'
import type { ServerContext } from '../http/context.js'
import { isServerFault } from '../http/problem.js'
import { requestIdFrom } from '../http/request-id.js'
import { DirectCall, type DirectRequest } from './call.js'
import { CallReader, type ReadCall } from './reader.js'
import { type DirectReply, failureReply, jsonReply, replyText } from './reply.js'

/**
 * Answers calls of hot operations on the raw socket, as long as nothing else arrives on it: Node's HTTP objects and the
 * framework cost more than the call (figures in `docs/adr`). At the first chunk that is not one whole, plain call with a
 * valid key, the connection and that chunk go to Node's HTTP server for good. The handlers are those of the framework's
 * routes. `npm run proof -- http-paths` proves that the responses are equal.
 */
export class DirectConnections {
  private readonly open = new Set<DirectConnection>()

  constructor(context: ServerContext, server: Server) {
    if (context.settings.checkFastPath !== 'connection') return
    takeBefore(server, usableEvent(server), (socket, handOver) => {
      new DirectConnection(context, socket, this.open, handOver)
    })
  }

  /** Connections without any request yet are left to `Connections`. */
  closeIdle(): void {
    for (const connection of this.open) connection.closeIfIdle()
  }
}

/** A connection on which only direct calls have arrived so far. */
class DirectConnection {
  private readonly reader: CallReader
  /** Its answer is pending. Calls of a connection are answered one after the other. */
  private call: DirectCall | undefined
  /** The next call has come meanwhile. */
  private isHolding = false
  private hasAnswered = false
  private hasEnded = false
  private readonly keepAlive: string

  constructor(
    private readonly context: ServerContext,
    private readonly socket: Socket,
    private readonly open: Set<DirectConnection>,
    private readonly attach: () => void,
  ) {
    const { keepAliveTimeoutMs, transferTimeoutMs } = context.settings
    this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n\r\n`
    this.reader = new CallReader(context, socket)
    open.add(this)
    socket.setTimeout(transferTimeoutMs)
    socket.on('data', this.onData)
    socket.on('end', this.onEnd)
    socket.on('timeout', this.onTimeout)
    socket.on('error', this.onError)
    socket.on('close', this.onClose)
  }

  closeIfIdle(): void {
    if (this.call === undefined && this.socket.bytesRead > 0) this.socket.destroySoon()
  }

  private readonly onData = (chunk: Buffer): void => {
    if (this.call !== undefined) {
      this.isHolding = true
      this.socket.pause()
      this.socket.unshift(chunk)
    } else if (!this.takes(chunk)) this.handOver(chunk)
  }

  private readonly onEnd = (): void => {
    this.hasEnded = true
    // A client that half-closed its connection after a request still gets the response.
    if (this.call === undefined) this.socket.end()
  }

  private readonly onTimeout = (): void => {
    // The store has its own time limits.
    if (this.call !== undefined) return
    // As Node's server does: a 408 before the first request, a close without a response after it.
    if (this.hasAnswered) this.socket.destroy()
    else answerClientError({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, this.socket)
  }

  private readonly onError = (): void => {
    this.socket.destroy()
  }

  private readonly onClose = (): void => {
    this.open.delete(this)
    this.call?.watched?.close(false)
  }

  /** False for anything but a whole call that the framework would admit; it is not begun then. */
  private takes(chunk: Buffer): boolean {
    const read = this.context.stopping ? undefined : this.reader.read(chunk)
    if (read === undefined) return false
    this.begin(read)
    return true
  }

  private begin({ route, params, lists, body }: ReadCall): void {
    const { accessLog, metrics } = this.context
    const request: DirectRequest = {
      id: requestIdFrom(this.reader.requestId),
      params,
      query: lists === undefined ? {} : { allowlists: lists },
      headers: {},
      body,
      raw: this.reader.raw!,
      isLogged: accessLog.samples(),
    }
    const startedAt = request.isLogged || metrics !== undefined ? performance.now() : 0
    const call = new DirectCall(route, request, this.socket, startedAt)
    try {
      const answer = route.handler(request as unknown as FastifyRequest, call as unknown as FastifyReply)
      if (isPromise(answer)) this.wait(call, answer)
      else this.answer(call, answer)
    } catch (error) {
      this.fail(call, error)
    }
  }

  private wait(call: DirectCall, pending: Promise<unknown>): void {
    this.call = call
    pending.then(this.onAnswer, this.onFailure)
  }

  private readonly onAnswer = (answer: unknown): void => {
    const call = this.call!
    try {
      this.answer(call, answer)
    } catch (error) {
      this.fail(call, error)
    }
    this.goOn()
  }

  private readonly onFailure = (error: unknown): void => {
    this.fail(this.call!, error)
    this.goOn()
  }

  private goOn(): void {
    const { socket } = this
    this.call = undefined
    if (this.hasEnded) socket.end()
    if (!this.isHolding) return
    this.isHolding = false
    if (!socket.writableNeedDrain) socket.resume()
  }

  private answer(call: DirectCall, answer: unknown): void {
    const { statusCode, fields } = call
    const sent = answer === call ? call.text : undefined
    const body = sent ?? (answer === undefined ? undefined : call.route.serialize(statusCode, answer))
    this.write(call, jsonReply(statusCode, fields, body))
  }

  private fail(call: DirectCall, error: unknown): void {
    try {
      if (call.isAnswered) throw error
      this.write(call, failureReply(error, call.request.id, call.fields), error)
    } catch (cause) {
      reportFailure(cause)
      this.socket.destroy()
    }
  }

  private write(call: DirectCall, reply: DirectReply, error?: unknown): void {
    const { socket } = this
    const { watched, request } = call
    const { text, encoding } = replyText(reply, request.id, this.keepAlive)
    if (!this.hasAnswered) socket.setTimeout(this.context.settings.keepAliveTimeoutMs)
    this.hasAnswered = true
    call.isAnswered = true
    const hasRoom =
      watched === undefined
        ? socket.write(text, encoding)
        : socket.write(text, encoding, (failure) => watched.close(failure == null))
    if (reply.fields.connection === 'close') socket.end()
    else if (!hasRoom) {
      // A client that sends requests without reading responses must not fill the memory.
      socket.pause()
      socket.once('drain', () => socket.resume())
    }
    this.record(call, reply.status, error)
  }

  /** Counts the call, and logs it when it is in the sample or failed by a fault of the server. */
  private record({ route, request, startedAt }: DirectCall, status: number, error: unknown): void {
    const { metrics, accessLog } = this.context
    const latencyMs = startedAt === 0 ? 0 : performance.now() - startedAt
    if (status === route.status && metrics !== undefined) {
      route.answered ??= metrics.http.counter(route.method, route.url, status)
      route.answered(latencyMs)
    } else metrics?.http.add(route.method, route.url, status, latencyMs)
    if (!request.isLogged && !isServerFault(status)) return
    accessLog.write({
      requestId: request.id,
      method: route.method,
      route: route.url,
      status,
      latencyMs,
      check: request.check,
      customerId: request.params.customerId,
      key: this.reader.caller?.name,
      error,
    })
  }

  private handOver(chunk: Buffer): void {
    const { socket } = this
    this.open.delete(this)
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
