import type { FastifyRequest } from 'fastify'
import { CatracaError } from '../../core/errors.js'
import type { Limits, Reach } from '../../guards/access/grants.js'
import type { App } from '../http/instance.js'
import type { Gate } from './gate.js'

/**
 * Refuses callers whose roles are limited to some lists or resources what is beyond them. Runs after validation, because
 * bodies name lists too. An operation that does not say what it is about is refused.
 */
export function refuseBeyondReach(app: App, gate: Gate): void {
  app.addHook('preHandler', (request, _reply, done) => done(refusal(request, gate)))
}

function refusal(request: FastifyRequest, gate: Gate): CatracaError | undefined {
  const { scope, orAdmin, reach: about } = request.route!.config
  if (scope === undefined || scope === 'open' || scope === 'any') return undefined
  const reach = gate.reach(request.raw, scope)
  if (reach === undefined || (orAdmin && gate.reach(request.raw, 'admin') === undefined)) return undefined
  if (about === 'filtered' || about === 'no-target') return undefined
  if (about === undefined) return beyond('this call is for roles without limits on lists or resources')
  const { params, query, body } = request
  const { lists = [], resources = [] } = about({ params, query, body })
  if (lists.length + resources.length === 0) return beyond('the call names no list or resource')
  return uncovered(reach, 'lists', lists) ?? uncovered(reach, 'resources', resources)
}

/** Throws unless the caller's roles cover these lists, which the request itself does not name. */
export function requireLists(reach: Reach, lists: readonly string[]): void {
  const refusal = uncovered(reach, 'lists', lists)
  if (refusal !== undefined) throw refusal
}

function uncovered(reach: Reach, kind: keyof Limits, names: readonly unknown[]): CatracaError | undefined {
  // Does not say which exist: the name is the caller's own.
  return names.every((name) => reach.covers(kind, name))
    ? undefined
    : beyond(`your roles do not reach these ${kind}`)
}

const beyond = (why: string) => new CatracaError('FORBIDDEN', why)
