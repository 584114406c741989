import { CatracaError } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'

/** An entry that a descriptor must have. Without a value, or with a `*` at its end, it fits many. */
export interface DescriptorEntry {
  key: string
  value?: string
}

/** Names the limits of descriptors with these entries, in this order. */
export interface DescriptorRule {
  /** When absent, the descriptors of every domain. */
  domain?: string
  entries: readonly DescriptorEntry[]
  resource: string
  /** Keys whose values are the entity. When absent, all of them; when empty, all callers share one. */
  entity?: readonly string[]
}

/** What guards the requests of a gateway whose path, and host, fit. */
export interface RouteRule {
  host?: string
  /** A path, or the beginning of paths with a `*` behind it. */
  path: string
  /** Lists and waves that must all admit the customer. Empty: none is asked. */
  allowlists?: readonly string[]
  /** Where the customer is: `header:NAME` or `claim:NAME`. */
  customer?: string
  /** Whether the token of the request must not be revoked. */
  tokens?: boolean
}

export interface GrpcOptions {
  /** 0 means any free port. */
  port: number
  descriptors?: readonly DescriptorRule[]
  /** What becomes of a descriptor that no level configures. */
  unconfigured?: 'allow' | 'deny'
  /** The limit that `limit` in a descriptor states for the call. */
  overrideLimit?: string
  /** Whether answers name the headers that the gateway should add to its response. */
  responseHeaders?: boolean
  routes?: readonly RouteRule[]
  customer?: string
  /** What becomes of a request that neither its context extensions nor a route describe. */
  unmatched?: 'allow' | 'deny'
  /** The name under which the gateway keeps the claims of a verified token. */
  jwtPayload?: string
  messageLimitBytes?: number
  /** Open streams of one connection. */
  maxStreams?: number
  /** Open calls, over all connections. */
  maxCalls?: number
}

export type GrpcSettings = Required<GrpcOptions>

export const GRPC_DEFAULTS = {
  descriptors: [],
  unconfigured: 'allow',
  overrideLimit: 'requests',
  responseHeaders: true,
  routes: [],
  customer: 'header:x-customer-id',
  unmatched: 'deny',
  jwtPayload: 'jwt_payload',
  messageLimitBytes: 256 * 1024,
  maxStreams: 1_000,
  maxCalls: 10_000,
} as const satisfies Omit<GrpcOptions, 'port'>

/** The fields of each rule, and how each is read. A wrong rule stops the start. */
type Readers<T> = { readonly [K in keyof T]-?: (path: string, value: unknown) => T[K] }

const wrong = (path: string, why: string) => new CatracaError('CONFIG_INVALID', `${path} ${why}`)

function nonEmpty(path: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value.length > 1024) {
    throw wrong(path, 'must be a text that is not empty')
  }
  return value
}

function listOf<T>(read: (path: string, value: unknown) => T) {
  return (path: string, value: unknown): readonly T[] => {
    if (!Array.isArray(value)) throw wrong(path, 'must be an array')
    return value.map((item, i) => read(`${path}[${i}]`, item))
  }
}

function objectOf<T>(readers: Readers<T>, required: readonly (keyof T & string)[]) {
  return (path: string, value: unknown): T => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw wrong(path, 'must be an object')
    }
    const missing = required.find((name) => !Object.hasOwn(value, name))
    if (missing !== undefined) throw wrong(`${path}.${missing}`, 'must be given')
    const fields = Object.entries(value).map(([name, field]) => {
      const read = Object.hasOwn(readers, name) ? readers[name as keyof T] : undefined
      if (read === undefined) throw wrong(`${path}.${name}`, 'is not a field of it')
      return [name, read(`${path}.${name}`, field)]
    })
    return Object.fromEntries(fields) as T
  }
}

function name(path: string, value: unknown): string {
  try {
    return plainName(path, value)
  } catch (cause) {
    throw new CatracaError('CONFIG_INVALID', (cause as Error).message, { cause })
  }
}

export const CUSTOMER_SOURCE = /^(header|claim):([A-Za-z0-9_.-]{1,128})$/

function customerSource(path: string, value: unknown): string {
  if (typeof value === 'string' && CUSTOMER_SOURCE.test(value)) return value
  throw wrong(path, 'must be header:NAME or claim:NAME')
}

function truth(path: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw wrong(path, 'must be true or false')
  return value
}

const entry = objectOf<DescriptorEntry>({ key: nonEmpty, value: nonEmpty as never }, ['key'])
const descriptors = listOf(
  objectOf<DescriptorRule>(
    {
      domain: nonEmpty as never,
      entries: listOf(entry),
      resource: name,
      entity: listOf(nonEmpty) as never,
    },
    ['entries', 'resource'],
  ),
)
const routes = listOf(
  objectOf<RouteRule>(
    {
      host: nonEmpty as never,
      path: nonEmpty,
      allowlists: listOf(name) as never,
      customer: customerSource as never,
      tokens: truth as never,
    },
    ['path'],
  ),
)

/** Refuses wrong rules before the port opens. */
export function grpcSettings(options: GrpcOptions): GrpcSettings {
  const settings: GrpcSettings = { ...GRPC_DEFAULTS, ...options }
  const rules = descriptors('grpc.descriptors', settings.descriptors)
  for (const [i, { entries, entity }] of rules.entries()) {
    const unknown = entity?.find((key) => !entries.some((one) => one.key === key))
    if (unknown !== undefined) throw wrong(`grpc.descriptors[${i}].entity`, `names no key of it: ${unknown}`)
  }
  return {
    ...settings,
    descriptors: rules,
    routes: routes('grpc.routes', settings.routes),
    customer: customerSource('grpc.customer', settings.customer),
    overrideLimit: name('grpc.overrideLimit', settings.overrideLimit),
  }
}
