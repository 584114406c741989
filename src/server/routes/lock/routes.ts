import type { ServerResponse } from 'node:http'
import { CatracaError } from '../../../core/errors.js'
import { lockHeld } from '../../../guards/lock/with-lock.js'
import type { App, ServerContext } from '../../http/context.js'
import { onClientDisconnect } from '../../http/disconnect.js'
import { answers204 } from '../allowlist/lists.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['locks']
const config = { scope: 'locks' } as const

export function lockRoutes(app: App, context: ServerContext): void {
  addAcquire(app, context)
  addOwnersCalls(app, context)
  addState(app, context)
}

/** A caller who is gone before it could be told: the lock must not be given to nobody. */
function whenUnanswered(raw: ServerResponse, act: () => void): void {
  raw.once('close', () => {
    if (!raw.writableFinished) act()
  })
}

function addAcquire(app: App, context: ServerContext): void {
  const { locks } = context.catraca
  const waiting = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const stop of waiting) stop.abort(new CatracaError('SHUTTING_DOWN', 'the server is stopping'))
  })
  app.post(
    '/locks/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'acquireLock',
        summary: 'Take a lock, or wait for it',
        params: schemas.lockParams,
        body: schemas.acquireRequest,
        response: answers({ 201: { description: 'It is yours', schema: schemas.acquired } }),
      },
    },
    async (request, reply) => {
      const { name } = request.params
      const stop = new AbortController()
      waiting.add(stop)
      onClientDisconnect(request.raw, reply.raw, () => stop.abort(callerGone()))
      const answer = await locks
        .acquire(name, { ...request.body, signal: stop.signal })
        .finally(() => waiting.delete(stop))
      if (!answer.acquired) {
        reply.header('retry-after', String(Math.max(1, Math.ceil(answer.retryAfterMs / 1000))))
        throw lockHeld(answer)
      }
      const { token, fence, expiresAt } = answer
      const giveBack = () => void locks.release(name, token).catch(() => {})
      if (reply.raw.destroyed || request.raw.socket.readableEnded) {
        giveBack()
        throw callerGone()
      }
      whenUnanswered(reply.raw, giveBack)
      return reply.code(201).send({ token, ...(fence !== undefined && { fence }), expiresAt })
    },
  )
}

const callerGone = () => new CatracaError('LOCK_HELD', 'the caller has gone')

function addOwnersCalls(app: App, { catraca: { locks } }: ServerContext): void {
  app.post(
    '/locks/:name/extend',
    {
      config,
      schema: {
        tags,
        operationId: 'extendLock',
        summary: 'Let a lock live for longer, from now on',
        params: schemas.lockParams,
        body: schemas.extendRequest,
        response: answers({ 200: { description: 'Still yours', schema: schemas.extended } }),
      },
    },
    async (request) => {
      const { token, ttlMs } = request.body
      const extended = await locks.extend(request.params.name, token, ttlMs)
      if (extended === undefined) throw notYours(request.params.name)
      return { expiresAt: extended.expiresAt }
    },
  )

  app.post(
    '/locks/:name/release',
    {
      config,
      schema: {
        tags,
        operationId: 'releaseLock',
        summary: 'Give a lock back',
        params: schemas.lockParams,
        body: schemas.releaseRequest,
        response: answers204('Free again'),
      },
    },
    async (request, reply) => {
      const isReleased = await locks.release(request.params.name, request.body.token)
      if (!isReleased) throw notYours(request.params.name)
      return reply.code(204).send()
    },
  )
}

function addState(app: App, { catraca: { locks } }: ServerContext): void {
  app.get(
    '/locks/:name',
    {
      config: { ...config, orAdmin: true },
      schema: {
        tags,
        operationId: 'getLock',
        summary: 'Whether a lock is held, and until when; never by whom',
        params: schemas.lockParams,
        response: answers({ 200: { description: 'Its state', schema: schemas.lockState } }),
      },
    },
    (request) => locks.status(request.params.name),
  )

  app.delete(
    '/locks/:name',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'forceReleaseLock',
        summary: 'Take a lock away from whoever has it; its holder is told by the fence, and when it extends',
        params: schemas.lockParams,
        response: answers204('Free'),
      },
    },
    async (request, reply) => {
      await locks.forceRelease(request.params.name)
      return reply.code(204).send()
    },
  )
}

function notYours(name: string): CatracaError {
  return new CatracaError('LOCK_LOST', `the lock ${name} is not yours any more`)
}
