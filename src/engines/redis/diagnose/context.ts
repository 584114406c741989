import { type CheckResult, problem } from '../../../core/diagnosis.js'
import type { StoreUse } from '../../registry-entry.js'
import type { ConnectionSettings } from '../link/connection.js'
import type { Redis } from '../link/redis.js'
import type { RedisUrl } from '../url.js'

export interface RedisFacts {
  url: RedisUrl
  use: StoreUse
  redis: Redis
  /** All primaries. */
  servers: readonly Server[]
  waitReplicas: number
  hasPassword: boolean
  /** Names of cache spaces: without them, cached values cannot be told from other keys. */
  cacheSpaces: readonly string[]
  connection: ConnectionSettings
  now: () => number
}

export interface Server {
  address: string
  /** The fields of INFO. */
  info: ReadonlyMap<string, string>
  /** Settings, if CONFIG is allowed: hosted services forbid it. */
  settings: ReadonlyMap<string, string>
}

const SETTINGS = ['maxmemory', 'maxmemory-policy', 'appendfsync', 'save', 'min-replicas-to-write']

export async function readServer(redis: Redis, address: string): Promise<Server> {
  const ask = (args: string[]): Promise<unknown> => redis.readAt(address, args)
  const info = String(await ask(['INFO']))
  const told = await ask(['CONFIG', 'GET', ...SETTINGS]).catch(() => new Map())
  const settings = told instanceof Map ? (told as Map<string, string>) : new Map<string, string>()
  return { address, info: fieldsOf(info), settings }
}

export function fieldsOf(text: string): Map<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const colon = line.indexOf(':')
    return colon < 1 || line.startsWith('#') ? [] : [[line.slice(0, colon), line.slice(colon + 1)]]
  })
  return new Map(pairs)
}

/** The result for each server, prefixed with its address. A result that is the same for all is reported once. */
export async function ofEach(
  { servers }: RedisFacts,
  look: (server: Server) => CheckResult | Promise<CheckResult>,
): Promise<CheckResult[]> {
  if (servers.length === 0) return [problem('no server accepts writes')]
  const verdicts: CheckResult[] = []
  for (const server of servers) verdicts.push(await look(server))
  const first = verdicts[0]!
  if (verdicts.every(({ found, level }) => found === first.found && level === first.level)) return [first]
  return verdicts.map((one, i) => ({ ...one, found: `${servers[i]!.address}: ${one.found}` }))
}

export const numberOf = (server: Server, field: string): number =>
  Number(server.info.get(field) ?? Number.NaN)
