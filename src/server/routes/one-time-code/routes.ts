import { issueDenied } from '../../../guards/one-time-code/issue-denied.js'
import { retryAfterSeconds } from '../../../guards/rate-limit/headers.js'
import type { App, ServerContext } from '../../http/context.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['codes']
/** Neither a code nor whether one was right belongs in anybody's cache. */
const UNCACHED = { 'cache-control': 'no-store' }

export function codeRoutes(app: App, { catraca: { codes } }: ServerContext): void {
  app.post(
    '/otp/:channel',
    {
      config: { scope: 'codes:issue' },
      schema: {
        tags,
        operationId: 'issueCode',
        summary: 'Make a one-time code, in the place of the one before',
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
        summary: 'Is this the code? It works once',
        params: schemas.channelParams,
        body: schemas.verifyRequest,
        response: answers({ 200: { description: 'Whether it is', schema: schemas.verified } }),
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
        summary: 'Whether a code is pending and guesses are locked; never the code',
        params: schemas.channelParams,
        body: schemas.issueRequest,
        response: answers({ 200: { description: 'What stands', schema: schemas.codeStatus } }),
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
        summary: 'Have the pending code work no longer, and lift the lock',
        params: schemas.channelParams,
        body: schemas.issueRequest,
        response: answers({ 200: { description: 'Whether there was anything', schema: schemas.revoked } }),
      },
    },
    (request) => codes.revoke({ ...request.params, ...request.body }),
  )
}
