import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type Type,
  UseGuards,
} from '@nestjs/common'
import { type AllowOptions, RequestAllowlists } from '../adapters/allowlist.js'
import type { Gate } from '../adapters/gate.js'
import { type RateLimitOptions, RequestLimits } from '../adapters/rate-limit.js'
import { markRefused } from '../adapters/refused.js'
import { tellEnd } from '../adapters/response-end.js'
import { RequestTokens, type RevokedTokensOptions } from '../adapters/token-denylist.js'
import { invalid } from '../core/errors.js'
import type { Limits } from '../guards/rate-limit/types.js'
import { CatracaException } from './exception.js'
import { type AnyRequest, exchangeOf } from './exchange.js'
import { type NestRequest, SHARED, type Shared } from './tokens.js'

/** On a controller or on a route. */
export type RouteDecorator = ClassDecorator & MethodDecorator

/** Costs by limit, or one cost for all `limits` of the decorator. */
export type Cost = number | Record<string, number>

export interface LimitOptions<Request = NestRequest>
  extends Omit<RateLimitOptions<Request>, 'catraca' | 'limits' | 'consume'> {
  /** Limits of these requests. Without them the configured limits of the resource apply. */
  limits?: Limits | ((request: Request) => Limits | undefined)
  /** What a request takes; 1 of each limit when absent. */
  cost?: Cost | ((request: Request) => Cost)
}

export interface AllowGuardOptions<Request = NestRequest>
  extends Omit<AllowOptions<Request>, 'catraca' | 'lists' | 'customer'> {
  /** Undefined: the request has no customer, and is refused. When absent: `customer` of the module. */
  customer?: AllowOptions<Request>['customer']
}

export type RevokedTokensGuardOptions<Request = NestRequest> = Omit<
  RevokedTokensOptions<Request>,
  'catraca' | 'tokens'
>

/** Limits requests. Several of them on a controller and a route must all admit the request. */
export const Limit = (options: LimitOptions = {}): RouteDecorator => UseGuards(limitGuard(options))

/** Admits customers who are on all lists. */
export const Allow = (lists: Lists, options: AllowGuardOptions = {}): RouteDecorator =>
  UseGuards(allowGuard(lists, options))

/** Refuses revoked tokens. Put it behind the guard that verifies the signature. */
export const RevokedTokens = (options: RevokedTokensGuardOptions): RouteDecorator =>
  UseGuards(revokedTokensGuard(options))

export type Lists = string | readonly string[] | ((request: NestRequest) => readonly string[])

/** A guard that Nest injects: for `@UseGuards`, or for all routes as `APP_GUARD`. */
export function limitGuard({ cost, ...options }: LimitOptions = {}): Type<CanActivate> {
  return guardClass(({ catraca }) => {
    const consume = cost === undefined ? {} : { consume: costsOf(cost, options.limits) }
    const limits = new RequestLimits<AnyRequest>({ ...options, ...consume, catraca }, addressOf)
    return (request, requestId) => limits.ask(request, requestId)
  })
}

export function allowGuard(lists: Lists, options: AllowGuardOptions = {}): Type<CanActivate> {
  return guardClass((shared) => {
    const { catraca, customer = options.customer } = { ...shared, ...options }
    if (customer === undefined) throw invalid('customer', 'must be given, to @Allow or to the module')
    const all = typeof lists === 'string' ? [lists] : lists
    const allowlists = new RequestAllowlists<AnyRequest>({ ...options, catraca, customer, lists: all })
    return (request, requestId) => allowlists.ask(request, requestId)
  })
}

export function revokedTokensGuard(options: RevokedTokensGuardOptions): Type<CanActivate> {
  return guardClass(({ catraca }) => {
    const tokens = new RequestTokens<AnyRequest>({ ...options, catraca })
    return (request, requestId) => tokens.ask(request, requestId)
  })
}

/** Each framework decides by its own setting whether a proxy is trusted. */
const addressOf = ({ ip }: AnyRequest): string | undefined => ip

type Ask = (request: AnyRequest, requestId: string) => Promise<Gate>

/** A class for each use, so that wrong options stop the application when it starts. */
function guardClass(askWith: (shared: Shared) => Ask): Type<CanActivate> {
  @Injectable()
  class CatracaGuard implements CanActivate {
    private readonly ask: Ask

    constructor(@Inject(SHARED) shared: Shared) {
      this.ask = askWith(shared)
    }

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const { request, response, raw, requestId } = exchangeOf(context)
      const gate = await this.ask(request, requestId)
      if (gate.pass) tellEnd(raw, gate.atEnd)
      for (const name in gate.headers) {
        // The filter that sends the problem says what it is; another filter would send something else.
        if (gate.pass || name !== 'content-type') response.header(name, gate.headers[name]!)
      }
      if (!gate.pass) {
        markRefused(request)
        throw new CatracaException(gate)
      }
      return true
    }
  }
  return CatracaGuard
}

function costsOf(
  cost: NonNullable<LimitOptions['cost']>,
  limits: LimitOptions['limits'],
): (request: AnyRequest) => Record<string, number> {
  if (typeof cost === 'number' && limits === undefined) throw unnamed()
  return (request) => {
    const costs = typeof cost === 'function' ? cost(request) : cost
    if (typeof costs !== 'number') return costs
    const given = typeof limits === 'function' ? limits(request) : limits
    if (given === undefined) throw unnamed()
    return Object.fromEntries(Object.keys(given).map((name) => [name, costs]))
  }
}

const unnamed = (): Error => invalid('cost', 'must name its limits, because the decorator has no `limits`')
