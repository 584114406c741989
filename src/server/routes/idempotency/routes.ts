import { CatracaError, invalid } from '../../../core/errors.js'
import { refusalError } from '../../../guards/idempotency/refusals.js'
import type { RecordKey, RequestIdentity } from '../../../guards/idempotency/types.js'
import { isYes } from '../../../wire/common.js'
import { IDEMPOTENCY } from '../../../wire/idempotency.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

export function idempotencyRoutes(app: App, context: ServerContext): void {
  const { idempotency } = context.catraca
  addRoutes(app, context, IDEMPOTENCY, {
    claimRequest: async (request, reply) => {
      const { leaseSeconds, ...claim } = request.body
      const begun = await idempotency.begin({
        ...request.params,
        // The guard refuses a payload with a hash.
        ...(claim as typeof claim & RequestIdentity),
        ...(leaseSeconds !== undefined && { leaseMs: inMs(leaseSeconds) }),
        ...expiry(request.headers['idempotency-expiry-seconds']),
      })
      if (begun.outcome === 'refused') throw refusalError(begun)
      if (begun.outcome === 'claimed') {
        const { outcome: _, ...claimed } = begun
        reply.code(201)
        return { status: 'IN_PROGRESS', ...claimed } as const
      }
      reply.header('idempotency-replayed', 'true')
      if (begun.outcome === 'omitted') return { status: 'COMPLETED', omittedBytes: begun.sizeBytes } as const
      return { status: 'COMPLETED', response: begun.value } as const
    },
    completeRequest: async ({ params, body: { token, response } }) => {
      const { omitted } = await idempotency.complete(params, token, response)
      return { status: 'COMPLETED', ...(omitted && { omitted }) } as const
    },
    failRequest: async ({ params, body: { token, error } }) => {
      await idempotency.fail(params, token, error)
      return { status: 'FAILED' } as const
    },
    releaseRequest: ({ params, body }) => idempotency.release(params, body.token),
    extendRequest: async ({ params, body: { token, leaseSeconds } }) => {
      await idempotency.extend(params, token, inMs(leaseSeconds))
      return { status: 'IN_PROGRESS' } as const
    },
    listIdempotencyRecords: ({ query: { leaseEnded, ...query } }) =>
      idempotency.list({ ...query, leaseEnded: isYes(leaseEnded) }),
    getIdempotencyRecord: async ({ params }) => (await idempotency.get(params)) ?? notFound(params),
    deleteIdempotencyRecord: async ({ params }) => {
      if (!(await idempotency.delete(params))) notFound(params)
    },
  })
}

/** The API uses seconds; the library uses milliseconds. */
function inMs(leaseSeconds: number): number {
  if (leaseSeconds >= 1 && leaseSeconds <= 86_400) return Math.round(leaseSeconds * 1000)
  throw invalid('leaseSeconds', 'must be from 1 to 86400')
}

function expiry(header: string | undefined): { expirySeconds?: number } {
  if (header === undefined) return {}
  if (!/^\d{1,12}$/.test(header.trim()))
    throw invalid('Idempotency-Expiry-Seconds', 'must be a whole number of seconds')
  return { expirySeconds: Number(header) }
}

function notFound({ operation, key }: RecordKey): never {
  throw new CatracaError('IDEMPOTENCY_RECORD_NOT_FOUND', `there is no record of ${operation} ${key}`)
}
