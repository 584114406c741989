import type { handleUnaryCall, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js'
import { CatracaError, invalid } from '../../core/errors.js'
import type { Operation } from '../../wire/operation.js'
import type { CallFacts, Gate } from '../access/gate.js'
import type { ServerContext } from '../http/context.js'
import { isServerFault } from '../http/problem.js'
import { newRequestId, requestIdFrom } from '../http/request-id.js'
import type { HealthService } from './health.js'
import type { GrpcJs } from './packages.js'
import { type GrpcFailure, grpcFailure } from './status.js'

/** What a handler may know of the call beside its message. */
export interface GrpcCall {
  readonly requestId: string
  /** Whether the caller has cancelled, or its deadline has passed. */
  isGone(): boolean
  /** Throws if the caller may not do this too. */
  requires(operation: GuardedBy): void
}

/** The operation of the HTTP API that asks for the same: who may call it may call this. */
export type GuardedBy = Pick<Operation, 'scope' | 'rules'>

export interface GrpcHandler<Request, Response> {
  readonly operation: GuardedBy
  handle(request: Request, call: GrpcCall): Promise<Response>
  /** The status that the same answer has over HTTP, where that is not 200. */
  httpStatusOf?(response: Response): number
}

/** Stands for a message that is not of its description. */
export const MALFORMED = Symbol('malformed message')

/** As the log and the metrics name the method; every call of gRPC is a POST. */
export const METHOD = 'GRPC'
const ABANDONED = 499

/** What all calls of the port share. */
export interface CallParts {
  context: ServerContext
  grpc: typeof GrpcJs
}

export class OpenCall implements GrpcCall, CallFacts {
  readonly startedAt = performance.now()
  readonly requestId: string
  readonly authorization: readonly (string | Buffer)[]
  constructor(
    // biome-ignore lint/suspicious/noExplicitAny: the messages do not matter here.
    private readonly call: Pick<ServerUnaryCall<any, any>, 'metadata' | 'cancelled' | 'getHost' | 'getPeer'>,
    private readonly gate: Gate,
  ) {
    const { metadata } = call
    this.authorization = metadata.get('authorization')
    this.requestId = requestIdFrom(metadata.get('x-request-id')[0])
  }

  get host(): string {
    return this.call.getHost()
  }

  get peer(): string {
    return this.call.getPeer().replace(/:\d+$/, '')
  }

  /** Programs send none; a page of a browser would. */
  get isOfPage(): boolean {
    const { metadata } = this.call
    return metadata.get('origin').length > 0 || metadata.get('sec-fetch-site').length > 0
  }

  isGone(): boolean {
    return this.call.cancelled
  }

  requires(operation: GuardedBy): void {
    const refused = this.refusal(operation)
    if (refused !== undefined) throw refused
  }

  refusal({ scope, rules }: GuardedBy): CatracaError | undefined {
    const refused = this.gate.callRefusal(this, scope)
    const isAdmin =
      refused !== undefined && rules?.orAdmin && this.gate.callRefusal(this, 'admin') === undefined
    return isAdmin ? undefined : refused
  }
}

/** Answers the calls of a port: who may call, what fails, and how it is logged and counted are as over HTTP. */
export class Calls {
  constructor(private readonly parts: CallParts) {}

  unary<Request, Response>(
    path: string,
    handler: GrpcHandler<Request, Response>,
  ): handleUnaryCall<Request, Response> {
    const counted = this.parts.context.metrics?.http.counter(METHOD, path, 200)
    return (call, callback) => {
      const open = new OpenCall(call, this.parts.context.gate)
      const failed = (error: unknown) => this.fail(error, path, open, callback)
      const refused = this.refusal(call.request, open, handler.operation)
      if (refused !== undefined) {
        failed(refused)
        return
      }
      handler.handle(call.request, open).then((response) => {
        callback(null, response)
        const ms = performance.now() - open.startedAt
        const { metrics, accessLog } = this.parts.context
        const status = open.isGone() ? ABANDONED : (handler.httpStatusOf?.(response) ?? 200)
        if (status === 200) counted?.(ms)
        else metrics?.http.add(METHOD, path, status, ms)
        if (accessLog.samples()) this.log(path, open, status, ms)
      }, failed)
    }
  }

  /** The stream of a caller who watches our health. It lasts, so that neither the log nor the metrics count it. */
  watching({ operation, watch }: Pick<HealthService, 'operation' | 'watch'>): HealthService['watch'] {
    return (call) => {
      const open = new OpenCall(call, this.parts.context.gate)
      const refused = this.refusal(call.request, open, operation)
      if (refused === undefined) watch(call)
      else call.emit('error', this.statusOf(grpcFailure(refused), open))
    }
  }

  /** The status of a call that is refused before anything of it is read. */
  overloaded(path: string, why: string) {
    const failure = grpcFailure(new CatracaError('OVERLOADED', why))
    this.parts.context.metrics?.http.add(METHOD, path, failure.httpStatus, 0)
    return this.statusOf(failure, { requestId: newRequestId() })
  }

  private refusal(request: unknown, open: OpenCall, operation: GuardedBy): CatracaError | undefined {
    const { context } = this.parts
    if (operation.rules?.always) return request === MALFORMED ? malformed() : undefined
    if (context.stopping) return new CatracaError('SHUTTING_DOWN', 'the server is stopping')
    const refused = open.refusal(operation)
    if (refused !== undefined) return refused
    return request === MALFORMED ? malformed() : undefined
  }

  private fail<Response>(
    error: unknown,
    path: string,
    open: OpenCall,
    callback: sendUnaryData<Response>,
  ): void {
    const failure = grpcFailure(error)
    callback(this.statusOf(failure, open))
    const { context } = this.parts
    const ms = performance.now() - open.startedAt
    const { httpStatus } = failure
    context.metrics?.http.add(METHOD, path, httpStatus, ms)
    if (isServerFault(httpStatus) || context.accessLog.samples()) this.log(path, open, httpStatus, ms, error)
  }

  private statusOf({ cause, code }: GrpcFailure, { requestId }: Pick<OpenCall, 'requestId'>) {
    const metadata = new this.parts.grpc.Metadata()
    metadata.set('catraca-code', cause.code)
    metadata.set('x-request-id', requestId)
    const details = cause.code === 'INTERNAL' ? 'an unexpected failure' : cause.message
    return { code, details: details.replace(HALVES, '\ufffd'), metadata }
  }

  private log(route: string, open: OpenCall, status: number, latencyMs: number, error?: unknown): void {
    const { accessLog, gate } = this.parts.context
    const { requestId } = open
    const key = gate.principal(open)?.name
    accessLog.write({ requestId, method: METHOD, route, status, latencyMs, key, error })
  }
}

/** Halves of surrogate pairs, which a message may quote. The library encodes details as a URI, which fails on them. */
const HALVES = /\p{Cs}/gu

const malformed = () => invalid('message', 'is not a message of this method')
