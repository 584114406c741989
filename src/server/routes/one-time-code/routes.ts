import { issueDenied } from '../../../guards/one-time-code/issue-denied.js'
import { retryAfterSeconds } from '../../../guards/rate-limit/headers.js'
import type { App, ServerContext } from '../../http/context.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['codes']
/** No cache may store a code, or whether a code was right. */
const UNCACHED = { 'cache-control': 'no-store' }

export function codeRoutes(app: App, { catraca: { codes } }: ServerContext): void {
  app.post(
    '/otp/:channel',
    {
      config: { scope: 'codes:issue' },
      schema: {
        tags,
        operationId: 'issueCode',
        summary: 'Issue a one-time code; it replaces the pending one',
        params: schemas.channelParams,
        body: schemas.issueRequest,
        response: answers({ 201: { description: 'The code, shown only now', schema: schemas.issuedCode } }),
      },
    },
    async (request, reply) => {
      const answer = await codes.issue({ ...request.params, ...request.body })
      reply.headers(UNCACHED)
      if (!answer.issued) {
        reply.header('retry-after', String(retryAfterSeconds(answer.retryAfterMs)))
        throw issueDenied(answer)
      }
      const { code, expiresAt } = answer
      return reply.code(201).send({ code, expiresAt })
    },
  )

  app.post(
    '/otp/:channel/verify',
    {
      config: { scope: 'codes:verify' },
      schema: {
        tags,
        operationId: 'verifyCode',
        summary: 'Verify a one-time code; a code works once',
        params: schemas.channelParams,
        body: schemas.verifyRequest,
        response: answers({ 200: { description: 'Whether the code is right', schema: schemas.verified } }),
      },
    },
    async (request, reply) => {
      reply.headers(UNCACHED)
      return codes.verify({ ...request.params, ...request.body })
    },
  )

  app.post(
    '/otp/:channel/status',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'getCodeStatus',
        summary: 'Read whether a code is pending and whether the address is locked; never the code',
        params: schemas.channelParams,
        body: schemas.issueRequest,
        response: answers({ 200: { description: 'The current state', schema: schemas.codeStatus } }),
      },
    },
    async (request, reply) => {
      reply.headers(UNCACHED)
      return codes.status({ ...request.params, ...request.body })
    },
  )

  app.post(
    '/otp/:channel/revoke',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'revokeCode',
        summary: 'Revoke the pending code, and unlock the address',
        params: schemas.channelParams,
        body: schemas.issueRequest,
        response: answers({
          200: { description: 'Whether there was a code or a lock to remove', schema: schemas.revoked },
        }),
      },
    },
    (request) => codes.revoke({ ...request.params, ...request.body }),
  )
}
