import { invalid } from '../../core/errors.js'
import { parsePage } from '../../core/paging.js'
import { boundAt, isPosition } from './entry-id.js'
import type { AuditEntry, AuditQuery, TargetKind } from './types.js'

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/
const ACTION = /^[a-z]{1,30}(\.[a-z]{1,30}){0,3}$/
const KINDS = [
  'allowlist',
  'customer',
  'limit',
  'entity',
  'key',
  'idempotency',
  'lock',
  'code',
  'token',
  'subject',
] as const satisfies readonly (TargetKind | 'customer')[]
const MAX_NAME = 256

export interface Filter {
  limit: number
  /** Whether the filter excludes any entries. */
  isNarrow: boolean
  /** Bounds of ids. */
  below: string
  from: string
  matches(entry: AuditEntry): boolean
}

/**
 * Validates a query. Entries before `oldest` are not shown, even if they are not swept yet, and none after `latest`.
 */
export function parseQuery(query: AuditQuery, oldest: number, latest: number): Filter {
  const { actor, action, target, search } = query
  const { limit, after } = parsePage(query, isPosition)
  if (actor !== undefined && (typeof actor !== 'string' || actor === '' || actor.length > MAX_NAME)) {
    throw invalid('actor', `must be a name of 1 to ${MAX_NAME} characters`)
  }
  if (search !== undefined && (typeof search !== 'string' || search === '' || search.length > MAX_NAME)) {
    throw invalid('search', `must be 1 to ${MAX_NAME} characters`)
  }
  if (action !== undefined && (typeof action !== 'string' || !ACTION.test(action))) {
    throw invalid('action', 'must be an action such as allowlist.update, or its beginning')
  }
  const isFound = search === undefined ? () => true : searchFilter(search)
  const isTarget = target === undefined ? () => true : targetFilter(target)
  const end = boundAt(Math.min(timeOf('to', query.to) ?? latest, latest))
  return {
    limit,
    isNarrow: [actor, action, target, search].some((part) => part !== undefined),
    below: [after ?? end, end].sort()[0]!,
    from: boundAt(Math.max(timeOf('from', query.from) ?? 0, oldest)),
    matches: (entry) =>
      (actor === undefined || entry.actor.name === actor || entry.actor.id === actor) &&
      (action === undefined || entry.action === action || entry.action.startsWith(`${action}.`)) &&
      isTarget(entry) &&
      isFound(entry),
  }
}

function searchFilter(search: string): (entry: AuditEntry) => boolean {
  const part = search.toLowerCase()
  return ({ actor, target, reason }) =>
    [target.id, target.customerId, target.entity, actor.name, reason].some((text) =>
      text?.toLowerCase().includes(part),
    )
}

function targetFilter(target: unknown): (entry: AuditEntry) => boolean {
  const split = typeof target === 'string' ? target.indexOf(':') : -1
  const kind = split < 0 ? '' : (target as string).slice(0, split)
  const id = split < 0 ? '' : (target as string).slice(split + 1)
  if (!(KINDS as readonly string[]).includes(kind) || id === '' || id.length > MAX_NAME) {
    throw invalid('target', `must be KIND:ID, with one of ${KINDS.join(', ')}`)
  }
  if (kind === 'customer') return ({ target: of }) => of.customerId === id
  return ({ target: of }) => of.kind === kind && of.id === id
}

function timeOf(path: string, value: unknown): number | undefined {
  if (value === undefined) return undefined
  const ms = typeof value === 'string' && ISO_TIME.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) throw invalid(path, 'must be a time in ISO 8601, such as 2030-01-31T12:00:00Z')
  return ms
}
