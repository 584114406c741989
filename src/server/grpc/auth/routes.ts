import { invalid } from '../../../core/errors.js'
import { plainName } from '../../../core/identifiers.js'
import type { CheckRequest } from '../messages.js'
import { CUSTOMER_SOURCE, type GrpcSettings, type RouteRule } from '../options.js'
import { readingsOf } from './paths.js'

/** What must hold for a request to pass. */
export interface RequestGuard {
  allowlists: readonly string[]
  customer: string
  tokens: boolean
}

const PREFIX = 'catraca.'
const KNOWN = ['allowlists', 'customer', 'tokens']

/** The guard that the gateway states for a request; undefined when it states none. Throws what is wrong in the gateway. */
export function statedGuard({ attributes }: CheckRequest, byDefault: string): RequestGuard | undefined {
  const { contextExtensions = {} } = attributes ?? {}
  const said = Object.keys(contextExtensions).filter((name) => name.startsWith(PREFIX))
  return said.length === 0 ? undefined : guardOfExtensions(contextExtensions, said, byDefault)
}

/** The guard by our own routes. Throws what is wrong in the request of the client. */
export function routeGuard(
  { attributes }: CheckRequest,
  { routes, customer }: Pick<GrpcSettings, 'routes' | 'customer'>,
): RequestGuard | undefined {
  const { path = '', host = '' } = attributes?.request?.http ?? {}
  const routeOf = (plain: string) => routes.find((one) => fits(one, host, plain))
  const plain = path.split('?', 1)[0]!
  const rule = routeOf(plain)
  if (readingsOf(plain).some((reading) => routeOf(reading) !== rule)) {
    throw invalid('path', 'can be read in several ways, which are guarded differently')
  }
  return (
    rule && {
      allowlists: rule.allowlists ?? [],
      customer: rule.customer ?? customer,
      tokens: rule.tokens ?? false,
    }
  )
}

function guardOfExtensions(
  extensions: Record<string, string>,
  said: readonly string[],
  byDefault: string,
): RequestGuard | undefined {
  const unknown = said.find((name) => !KNOWN.includes(name.slice(PREFIX.length)))
  if (unknown !== undefined) throw invalid(`context_extensions.${unknown.slice(0, 64)}`, 'is not known')
  const of = (name: string): string | undefined =>
    Object.hasOwn(extensions, PREFIX + name) ? extensions[PREFIX + name] : undefined
  const customer = of('customer') ?? byDefault
  const path = `context_extensions.${PREFIX}`
  if (!CUSTOMER_SOURCE.test(customer)) throw invalid(`${path}customer`, 'must be header:NAME or claim:NAME')
  const tokens = of('tokens') ?? 'false'
  if (tokens !== 'true' && tokens !== 'false') throw invalid(`${path}tokens`, 'must be true or false')
  const lists = of('allowlists')?.split(',') ?? []
  // A gateway adds up the extensions of a host and of a route. Those of the host alone must not open all its routes.
  if (lists.length === 0 && tokens === 'false') return undefined
  return {
    allowlists: lists.map((id) => plainName(`${path}allowlists`, id.trim())),
    customer,
    tokens: tokens === 'true',
  }
}

/** What clients may write behind a host without meaning another one: a dot, and a port. */
const BEHIND_HOST = /\.?(:\d*)?$/

function fits(rule: RouteRule, host: string, path: string): boolean {
  if (rule.host !== undefined && !isHost(rule.host.toLowerCase(), host.toLowerCase())) return false
  return rule.path.endsWith('*') ? path.startsWith(rule.path.slice(0, -1)) : path === rule.path
}

const isHost = (wanted: string, given: string): boolean =>
  given === wanted || given.replace(BEHIND_HOST, '') === wanted
