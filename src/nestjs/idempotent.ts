import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  type Type,
  UseInterceptors,
} from '@nestjs/common'
import { Observable, of } from 'rxjs'
import { HeldBackAnswer } from '../adapters/held-back.js'
import { DEGRADED_HEADER } from '../adapters/http-answer.js'
import {
  checkIdempotencyOptions,
  endRequest,
  type IdempotencyOptions,
  maxBodyBytes,
  startRequest,
} from '../adapters/idempotency.js'
import { about } from '../adapters/parsed-request.js'
import { markRefused, wasRefused } from '../adapters/refused.js'
import type { Held } from '../guards/idempotency/held-claim.js'
import { CatracaException } from './exception.js'
import { type AnyRequest, type AnyResponse, exchangeOf } from './exchange.js'
import type { RouteDecorator } from './guards.js'
import { sendStored } from './stored-answer.js'
import { type NestRequest, SHARED, type Shared } from './tokens.js'

export type IdempotentOptions<Request = NestRequest> = Omit<
  IdempotencyOptions<Request>,
  'catraca' | 'idempotency'
>

/**
 * Executes each request once, and replays its response with status and headers. On a controller it guards POST and PATCH,
 * on a route its method, unless `methods` says otherwise.
 */
export function Idempotent(options: IdempotentOptions): RouteDecorator {
  const decorator = (target: object, name?: string | symbol, descriptor?: PropertyDescriptor) => {
    const own = descriptor === undefined ? options : { methods: ALL_METHODS, ...options }
    UseInterceptors(idempotentInterceptor(own))(target as never, name as never, descriptor as never)
  }
  return decorator as RouteDecorator
}

const ALL_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** An interceptor that Nest injects: for `@UseInterceptors`, or for all routes as `APP_INTERCEPTOR`. */
export function idempotentInterceptor(given: IdempotentOptions): Type<NestInterceptor> {
  @Injectable()
  class CatracaIdempotent implements NestInterceptor {
    private readonly options: IdempotencyOptions<AnyRequest>

    constructor(@Inject(SHARED) { catraca }: Shared) {
      this.options = { ...given, catraca }
      checkIdempotencyOptions(this.options)
    }

    async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
      const { options } = this
      const { request, response, raw } = exchangeOf(context)
      const asked = about(request)
      const start = await startRequest(options, request, asked)
      if (start.go === 'on') return next.handle()
      if (start.go === 'refuse') {
        markRefused(request)
        throw new CatracaException(start.problem)
      }
      if (start.go === 'replay') {
        sendStored(raw, start.answer, headersOf(response))
        return of(undefined)
      }
      const { claim } = start
      if (claim.context.degraded) response.header(DEGRADED_HEADER, 'true')
      const record = (body: Buffer | undefined) => {
        const header = (name: string) => raw.getHeader(name)
        const facts = { status: raw.statusCode, header, body, isRefusal: wasRefused(request) }
        return endRequest(options, claim, facts, asked)
      }
      const giveUp = (error: unknown) => void claim.fail(error).catch(() => {})
      new HeldBackAnswer(raw, maxBodyBytes(options), { record, giveUp })
      return watched(next.handle(), request, claim)
    }
  }
  return CatracaIdempotent
}

/** Fastify keeps headers until it sends them. */
function headersOf(
  response: AnyResponse & { getHeaders?(): Record<string, unknown> },
): Record<string, unknown> {
  return { ...response.getHeaders?.() }
}

/** Ends the claim when there will be no response, or none that says how the request ended. */
function watched(answers: Observable<unknown>, request: AnyRequest, claim: Held): Observable<unknown> {
  return new Observable((subscriber) => {
    let isOver = false
    const watching = answers.subscribe({
      next: (value) => subscriber.next(value),
      error(error: unknown) {
        isOver = true
        // A lock that is held, for example: the request may come again.
        if (error instanceof CatracaException) markRefused(request)
        subscriber.error(error)
      },
      complete() {
        isOver = true
        subscriber.complete()
      },
    })
    return () => {
      watching.unsubscribe()
      // Nest stops an Observable whose client has disconnected, and sends nothing.
      if (!isOver) claim.fail(new Error('the client disconnected')).catch(() => {})
    }
  })
}
