import { encodeIdentifier } from '../../../core/encode-identifier.js'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import { questionsOf } from '../../../guards/token-denylist/claims.js'
import { tokenRevoked } from '../../../guards/token-denylist/token-revoked.js'
import { CHECKS } from '../../../wire/allowlist/checks.js'
import { TOKENS } from '../../../wire/token-denylist.js'
import type { ServerContext } from '../../http/context.js'
import { renderProblem } from '../../http/problem.js'
import type { GrpcCall, GrpcHandler } from '../calls.js'
import type { CheckRequest, CheckResponse, HeaderValue } from '../messages.js'
import type { GrpcSettings } from '../options.js'
import { GRPC, grpcFailure } from '../status.js'
import { claimsOf, customerOf, tokenClaims } from './facts.js'
import { type RequestGuard, routeGuard, statedGuard } from './routes.js'

/** Tells the service behind that the answer was given without the store. */
const DEGRADED = 'x-catraca-degraded'

/** `Check`: may this request pass? Envoy asks before it forwards one. */
export class AuthorizationService implements GrpcHandler<CheckRequest, CheckResponse> {
  readonly operation = CHECKS.checkCustomer

  constructor(
    private readonly context: ServerContext,
    private readonly settings: GrpcSettings,
  ) {}

  async handle(request: CheckRequest, call: GrpcCall): Promise<CheckResponse> {
    const stated = statedGuard(request, this.settings.customer)
    try {
      const guard = stated ?? routeGuard(request, this.settings)
      if (guard === undefined) return this.unmatched(call)
      if (guard.tokens) call.requires(TOKENS.checkToken)
      return admit(await this.check(request, guard))
    } catch (error) {
      // What the gateway's client did wrong is its answer. All else is a failure of the call, and Envoy's setting
      // `failure_mode_allow` says what follows.
      if (isRefusal(error)) return deny(error, call)
      throw error
    }
  }

  private unmatched(call: GrpcCall): CheckResponse {
    if (this.settings.unmatched === 'allow') return admit(false)
    return deny(new CatracaError('FORBIDDEN', 'nothing says who may call this'), call)
  }

  /** Whether the answer is degraded. Throws what forbids the request. */
  private async check(request: CheckRequest, guard: RequestGuard): Promise<boolean> {
    const isDegraded = guard.tokens && (await this.checkToken(request))
    const { allowlists } = guard
    if (allowlists.length === 0) return isDegraded
    const customer = customerOf(request, guard.customer, this.settings.jwtPayload)
    if (customer === undefined) throw notAllowed()
    const id = encodeIdentifier(customer, 'customerId')
    const answer = await this.context.catraca.allowlists.check(id, [...allowlists])
    if (!answer.overallAllowed) throw notAllowed()
    return isDegraded || answer.degraded === true
  }

  private async checkToken(request: CheckRequest): Promise<boolean> {
    const claims = claimsOf(request, this.settings.jwtPayload)
    if (claims === undefined) throw new CatracaError('UNAUTHENTICATED', 'the request has no verified token')
    let isDegraded = false
    for (const question of questionsOf(tokenClaims(claims))) {
      const { revoked, degraded } = await this.context.catraca.tokens.check(question)
      if (revoked) throw tokenRevoked()
      isDegraded ||= degraded === true
    }
    return isDegraded
  }
}

const notAllowed = () => new CatracaError('CUSTOMER_NOT_ALLOWED', 'this customer may not use this')

const REFUSALS = ['CUSTOMER_NOT_ALLOWED', 'TOKEN_REVOKED', 'UNAUTHENTICATED', 'INVALID_INPUT'] as const

const isRefusal = (error: unknown): boolean => REFUSALS.some((code) => isCatracaError(error, code))

function admit(isDegraded: boolean): CheckResponse {
  const headers = isDegraded ? [{ header: { key: DEGRADED, value: 'true' } }] : []
  // A client must not be able to say it.
  const headersToRemove = isDegraded ? [] : [DEGRADED]
  return { status: { code: GRPC.OK }, okResponse: { headers, headersToRemove } }
}

function deny(error: unknown, { requestId }: GrpcCall): CheckResponse {
  const { cause, code } = grpcFailure(error)
  const { status, headers, body } = renderProblem(error, requestId)
  const given = { ...headers, 'x-request-id': requestId }
  return {
    status: { code, message: cause.code },
    deniedResponse: { status: { code: status }, headers: optionsOf(given), body },
  }
}

const optionsOf = (headers: Record<string, string>): { header: HeaderValue }[] =>
  Object.entries(headers).map(([key, value]) => ({ header: { key, value } }))
