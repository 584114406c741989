import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { encodeIdentifier } from '../../../core/encode-identifier.js'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import { isPromise } from '../../../core/maybe-promise.js'
import type { Principal } from '../../../guards/access/index.js'
import { WrongContext } from '../../../guards/allowlist/flags/context.js'
import {
  type FlagAnswer,
  type FlagFailure,
  flagNotFound,
  isFlagFailure,
} from '../../../guards/allowlist/flags/flag.js'
import { rateLimitHeaders } from '../../../guards/rate-limit/headers.js'
import { quotaExceeded } from '../../../guards/rate-limit/quota-exceeded.js'
import { slotsOf } from '../../../guards/rate-limit/slots.js'
import { FLAGS } from '../../../wire/flags.js'
import { evaluateBulk, matches } from '../../flags/bulk.js'
import type { EventStream } from '../../flags/event-stream.js'
import { ExposedFlags, MAX_EVALUATED } from '../../flags/exposed.js'
import { FlagStreams } from '../../flags/streams.js'
import type { ServerContext } from '../../http/context.js'
import { sendProblem } from '../../http/hooks.js'
import type { App } from '../../http/instance.js'
import { isServerFault, renderProblem } from '../../http/problem.js'
import { addRoutes } from '../add-routes.js'

const INACTIVITY_DELAY_SECONDS = 120

/** Lists and waves as feature flags, by the protocol of OpenFeature. */
export function flagRoutes(app: App, context: ServerContext): void {
  const { settings, catraca } = context
  const { flags } = catraca.allowlists
  const { exposed: names, maxStreams, streamPath } = settings.flags
  const exposed = new ExposedFlags(flags, names, () =>
    app.log.warn(
      `flags.exposed matches more than ${MAX_EVALUATED} lists: bulk evaluations leave out the others`,
    ),
  )
  const streams = new FlagStreams(flags, exposed, maxStreams, () => context.bodies.turn())
  app.addHook('preClose', async () => streams.close())

  const eventStreams = (targetingKey: string) => {
    const query = new URLSearchParams({ targetingKey })
    const endpoint = { requestUri: `${streamPath}?${query}` }
    return [{ type: 'sse' as const, endpoint, inactivityDelaySec: INACTIVITY_DELAY_SECONDS }]
  }

  addRoutes(
    app,
    context,
    FLAGS,
    {
      evaluateFlag: async (request, reply) => {
        await take(context, request, reply)
        const pending = flags.evaluate(request.params.key, request.body.context)
        const answer = isPromise(pending) ? await pending : pending
        reply.code(statusOf(answer))
        return answer as never
      },
      evaluateFlags: async (request, reply) => {
        await take(context, request, reply)
        const { length } = await exposed.all()
        if (length > FLAGS_AT_ONCE) await context.bodies.turn(request.raw, length / FLAGS_OF_A_TURN)
        const { context: given } = request.body
        const bulk = await evaluateBulk(flags, exposed, given)
        reply.header('etag', bulk.etag)
        if (matches(request.headers['if-none-match'], bulk.etag)) return reply.code(304).send()
        const { targetingKey } = given as { targetingKey: string }
        return {
          flags: bulk.flags,
          ...(maxStreams > 0 && { eventStreams: eventStreams(targetingKey) }),
        }
      },
      followFlags: async (request, reply) => {
        const { query, headers, raw } = request
        if (context.gate.principal(raw)?.person !== undefined) throw forPrograms()
        const mayFollow = () => context.gate.refusal(raw, 'check') === undefined
        const events = await streams.open(query.targetingKey, headers['last-event-id'], mayFollow)
        if (events === undefined) {
          throw new CatracaError('OVERLOADED', 'too many event streams are open (flags.maxStreams)')
        }
        endWithClient(events, reply.raw, raw.socket)
        // Proxies that buffer answers would hold the events back.
        reply.header('x-accel-buffering', 'no')
        return reply.type('text/event-stream').send(events)
      },
    },
    { evaluateFlag: { errorHandler }, evaluateFlags: { errorHandler }, followFlags: { errorHandler } },
  )
  addSlashedKeys(app)
}

/**
 * Connections may be half open, but who follows events and sends no more is gone. Its place must not wait for the
 * heartbeat to find that out. It may also have left while the stream was opened.
 */
function endWithClient(events: EventStream, { destroyed }: ServerResponse, socket: Socket): void {
  const end = () => events.end()
  if (destroyed || socket.readableEnded) end()
  socket.once('end', end).once('close', end)
  events.once('close', () => socket.off('end', end).off('close', end))
}

/** A stream lasts for longer than a session, which must be looked up again at every request. */
const forPrograms = () => new CatracaError('FORBIDDEN', 'event streams are for API keys, not for sessions')

/** More flags take some milliseconds: other callers get their turns between two such requests. */
const FLAGS_AT_ONCE = 500
/** They take about half a millisecond. */
const FLAGS_OF_A_TURN = 50

/** Takes one evaluation from the limits of the caller, where the settings say so. */
async function take(
  { catraca, settings, gate }: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { limitedBy: resource } = settings.flags
  if (resource === undefined) return
  const entity = entityOf(gate.principal(request.raw))
  const answer = await catraca.limits.acquire({ entity, resource })
  reply.headers(rateLimitHeaders(answer))
  if (!answer.allowed) throw quotaExceeded(answer)
  const slots = slotsOf(answer)
  if (slots.length === 0) return
  // What cannot be given back now expires.
  const giveBack = () => void catraca.limits.adjust(answer.leaseId, Object.fromEntries(slots)).catch(() => {})
  if (reply.raw.destroyed) giveBack()
  else reply.raw.once('close', giveBack)
}

/** No key has a slash in its name, so nobody takes from the limits of a key by a name that they chose. */
const entityOf = (principal: Principal | undefined): string =>
  encodeIdentifier(
    principal?.person === undefined ? (principal?.name ?? 'keyless') : `person/${principal.id}`,
  )

const FLAG_PATH = '/ofrep/v1/evaluate/flags/'

/** Some providers do not encode keys. A path that cannot be decoded has a percent sign, which no list has in its id. */
export function refusedUnreadableKey({ method, url }: FastifyRequest, reply: FastifyReply): boolean {
  if (method !== 'POST' || !url.startsWith(FLAG_PATH)) return false
  reply.code(404).send(flagNotFound(url.slice(FLAG_PATH.length)))
  return true
}

/** No list has a slash in its id either. */
function addSlashedKeys(app: App): void {
  const { scope, rules } = FLAGS.evaluateFlag
  app.route({
    method: 'POST',
    url: `${FLAG_PATH}*`,
    config: { scope, ...rules },
    schema: { hide: true } as object,
    handler: (request, reply) => {
      const { '*': key } = request.params as { '*': string }
      reply.code(404).send(flagNotFound(key))
    },
  })
}

const STATUS: Record<FlagFailure['errorCode'], number> = {
  FLAG_NOT_FOUND: 404,
  TARGETING_KEY_MISSING: 400,
  INVALID_CONTEXT: 400,
  PARSE_ERROR: 400,
  GENERAL: 500,
}

const statusOf = (answer: FlagAnswer): number => (isFlagFailure(answer) ? STATUS[answer.errorCode] : 200)

/** Errors in the form of the protocol, where it has one for their status. The others are problems, as everywhere. */
const errorHandler: NonNullable<RouteOptions['errorHandler']> = (error, request, reply) => {
  const failure = failureOf(error)
  if (failure === undefined) return sendProblem(error, request, reply)
  request.error = error
  const { key } = request.params as { key?: string }
  reply.code(STATUS[failure.errorCode]).send({ ...(key !== undefined && { key }), ...failure })
}

function failureOf(error: unknown): Omit<FlagFailure, 'key'> | undefined {
  if (error instanceof WrongContext) return { errorCode: error.errorCode, errorDetails: error.message }
  if (isCatracaError(error, 'SHUTTING_DOWN')) return undefined
  if (isCatracaError(error, 'OVERLOADED')) return undefined
  const { status, body } = renderProblem(error, '')
  const { detail: errorDetails } = JSON.parse(body) as { detail: string }
  if (status === 400) return { errorCode: 'PARSE_ERROR', errorDetails }
  // To clients 404 is a flag that does not exist. What was not found here is a limit of `flags.limitedBy`.
  return isServerFault(status) || status === 404 ? { errorCode: 'GENERAL', errorDetails } : undefined
}
