import type { App, ServerContext } from '../../http/context.js'
import { answers204 } from '../allowlist/lists.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['tokens']
const checking = { scope: 'tokens:check', orAdmin: true } as const
const revoking = { scope: 'tokens:revoke', orAdmin: true } as const

export function tokenRoutes(app: App, { catraca: { tokens }, settings }: ServerContext): void {
  // A server that revokes has the revocations in memory: what is counted there bounds them.
  const follow = (): void => void tokens.warmUp().catch(() => {})
  app.get(
    '/revoked-tokens/:jti',
    {
      config: checking,
      schema: {
        tags,
        operationId: 'checkToken',
        summary: 'Check whether a token was revoked, alone or with all tokens of its subject',
        params: schemas.tokenParams,
        querystring: schemas.tokenQuery,
        response: answers({
          200: { description: 'Whether the token is revoked', schema: schemas.tokenAnswer },
        }),
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return tokens.check({ ...request.params, ...request.query })
    },
  )

  app.put(
    '/revoked-tokens/:jti',
    {
      config: revoking,
      schema: {
        tags,
        operationId: 'revokeToken',
        summary: 'Revoke a token until it expires',
        params: schemas.tokenParams,
        body: schemas.tokenRevocation,
        response: answers204('Revoked'),
      },
    },
    async (request, reply) => {
      follow()
      await tokens.revoke({ ...request.params, ...request.body })
      return reply.code(204).send()
    },
  )

  app.post(
    '/revoked-tokens',
    {
      config: revoking,
      bodyLimit: settings.bodyLimitBytes,
      schema: {
        tags,
        operationId: 'revokeTokens',
        summary: 'Revoke up to 1,000 tokens',
        body: schemas.tokenRevocations,
        response: answers204('All revoked'),
      },
    },
    async (request, reply) => {
      follow()
      await tokens.revokeAll(request.body.tokens)
      return reply.code(204).send()
    },
  )

  app.get(
    '/revoked-subjects/:subject',
    {
      config: checking,
      schema: {
        tags,
        operationId: 'getRevokedSubject',
        summary: 'Read which tokens of a subject are revoked',
        params: schemas.subjectParams,
        response: answers({ 200: { description: 'The current state', schema: schemas.subjectStatus } }),
      },
    },
    (request) => tokens.subject(request.params.subject),
  )

  app.put(
    '/revoked-subjects/:subject',
    {
      config: revoking,
      schema: {
        tags,
        operationId: 'revokeSubject',
        summary: 'Revoke all tokens of a subject that were issued before a time',
        params: schemas.subjectParams,
        body: schemas.subjectRevocation,
        response: answers204('Revoked'),
      },
    },
    async (request, reply) => {
      follow()
      await tokens.revokeSubject({ ...request.params, ...request.body })
      return reply.code(204).send()
    },
  )
}
