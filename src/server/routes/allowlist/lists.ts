import { CatracaError, invalid } from '../../../core/errors.js'
import type { Allowlist } from '../../../guards/allowlist/types.js'
import type { App, ServerContext } from '../../http/context.js'
import { Type } from '../../http/typebox.js'
import { answers, empty, shared } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['allowlists']
const params = Type.Object({ id: schemas.listId }, { additionalProperties: false })
const headers = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'Version that must be current, such as `"3"`' })),
})
const one = (description: string) => ({ description, schema: shared('Allowlist') })

const page = Type.Object(
  {
    ...schemas.pageOf(shared('Allowlist')).properties,
    total: Type.Optional(
      Type.Integer({ description: 'How many lists match, when the request searches or sorts' }),
    ),
  },
  { additionalProperties: false },
)

export function allowlistRoutes(app: App, { catraca: { allowlists }, settings }: ServerContext): void {
  // A wave may name many customers.
  const bodyLimit = settings.bodyLimitBytes
  app.post(
    '/allowlists',
    {
      config: { scope: 'admin' },
      bodyLimit,
      schema: {
        tags,
        operationId: 'createAllowlist',
        summary: 'Create an allowlist',
        body: schemas.newAllowlist,
        response: answers({ 201: one('The new allowlist') }),
      },
    },
    async (request, reply) => {
      const list = await allowlists.create(request.body)
      reply.code(201).header('location', `/allowlists/${list.id}`).header('etag', etag(list.version))
      return list
    },
  )

  app.get(
    '/allowlists',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'listAllowlists',
        summary: 'List the allowlists, or search and sort them',
        querystring: schemas.allowlistQuery,
        response: answers({ 200: { description: 'A page of allowlists', schema: page } }),
      },
    },
    (request) => allowlists.list(request.query),
  )

  app.get(
    '/allowlists/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'getAllowlist',
        summary: 'Read an allowlist',
        params,
        response: answers({ 200: one('The allowlist') }),
      },
    },
    async (request, reply) => versioned(reply, await allowlists.get(request.params.id)),
  )

  app.patch(
    '/allowlists/:id',
    {
      config: { scope: 'admin' },
      bodyLimit,
      schema: {
        tags,
        operationId: 'updateAllowlist',
        summary:
          'Change the name or the config of an allowlist; with `If-Match`, only if its version is still the given one',
        params,
        headers,
        body: schemas.allowlistChange,
        response: answers({ 200: one('The changed allowlist') }),
      },
    },
    async (request, reply) =>
      versioned(
        reply,
        await allowlists.update(request.params.id, request.body, precondition(request.headers)),
      ),
  )

  app.post(
    '/allowlists/:id/pause',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'pauseAllowlist',
        summary: 'Pause a wave: no customer passes, and its rule is kept. Works on any version',
        params,
        response: answers({ 200: one('The paused wave') }),
      },
    },
    async (request, reply) => versioned(reply, await allowlists.pause(request.params.id)),
  )

  app.post(
    '/allowlists/:id/resume',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'resumeAllowlist',
        summary: 'Resume a paused wave with the rule that it had',
        params,
        headers,
        response: answers({ 200: one('The resumed wave') }),
      },
    },
    async (request, reply) =>
      versioned(reply, await allowlists.resume(request.params.id, precondition(request.headers))),
  )

  app.delete(
    '/allowlists/:id',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'deleteAllowlist',
        summary: 'Delete an allowlist',
        params,
        response: answers204('Deleted'),
      },
    },
    async (request, reply) => {
      await allowlists.delete(request.params.id)
      return reply.code(204).send()
    },
  )
}

export function answers204(description: string): Record<string, unknown> {
  return { ...answers({}), 204: empty(description) }
}

const etag = (version: number): string => `"${version}"`

/** Sends a list with its version as ETag, for `If-Match`. */
function versioned(reply: { header(name: string, value: string): unknown }, list: Allowlist): Allowlist {
  reply.header('etag', etag(list.version))
  return list
}

/** Parses `"3"`, also `3` and `W/"3"`. `*` sets no condition, because a missing list is a 404 anyway. */
function precondition(headers: { 'if-match'?: string | undefined }): { ifVersion?: number } {
  const value = headers['if-match']?.trim()
  if (value === undefined || value === '*') return {}
  const version = /^(?:(?:W\/)?"(\d{1,15})"|(\d{1,15}))$/.exec(value)
  if (version !== null) return { ifVersion: Number(version[1] ?? version[2]) }
  if (/^(?:W\/)?"[^"]*"$/.test(value)) {
    throw new CatracaError('VERSION_MISMATCH', 'If-Match is not a version of an allowlist')
  }
  throw invalid('If-Match', 'must be one version in quotes, or *')
}
