import type { ServerResponse } from 'node:http'
import { CatracaError } from '../../../core/errors.js'
import type { AcquireOptions } from '../../../guards/lock/types.js'
import { lockHeld } from '../../../guards/lock/with-lock.js'
import { LOCKS } from '../../../wire/lock.js'
import type { ServerContext } from '../../http/context.js'
import { onClientDisconnect } from '../../http/disconnect.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

export function lockRoutes(app: App, context: ServerContext): void {
  const { locks } = context.catraca
  const waiting = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const stop of waiting) stop.abort(new CatracaError('SHUTTING_DOWN', 'the server is stopping'))
  })
  const waitFor = (name: string, options: AcquireOptions, onDisconnect: (stop: () => void) => void) => {
    const stop = new AbortController()
    waiting.add(stop)
    onDisconnect(() => stop.abort(callerGone()))
    return locks.acquire(name, { ...options, signal: stop.signal }).finally(() => waiting.delete(stop))
  }
  addRoutes(app, context, LOCKS, {
    acquireLock: async (request, reply) => {
      const { params, body, raw } = request
      const { name } = params
      const answer = await (body.waitMs
        ? waitFor(name, body, (stop) => onClientDisconnect(raw, reply.raw, stop))
        : locks.acquire(name, body))
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
      return { token, ...(fence !== undefined && { fence }), expiresAt }
    },
    extendLock: async ({ params, body: { token, ttlMs } }) => {
      const extended = await locks.extend(params.name, token, ttlMs)
      if (extended === undefined) throw notYours(params.name)
      return { expiresAt: extended.expiresAt }
    },
    releaseLock: async ({ params, body }) => {
      if (!(await locks.release(params.name, body.token))) throw notYours(params.name)
    },
    listLocks: ({ query }) => locks.list(query),
    getLock: ({ params }) => locks.status(params.name),
    forceReleaseLock: async ({ params }) => {
      await locks.forceRelease(params.name)
    },
  })
}

/** Calls `act` when the client disconnected before the response: no client would hold that lock. */
function whenUnanswered(raw: ServerResponse, act: () => void): void {
  raw.once('close', () => {
    if (!raw.writableFinished) act()
  })
}

const callerGone = () => new CatracaError('LOCK_HELD', 'the client disconnected')

function notYours(name: string): CatracaError {
  return new CatracaError('LOCK_LOST', `the lock ${name} is no longer held with this token`)
}
