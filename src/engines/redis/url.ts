import { refuseUnknown, splitOnce, wrong } from '../url-parts.js'

export interface RedisUrl {
  engine: 'redis'
  topology: 'single' | 'sentinel' | 'cluster'
  tls: boolean
  nodes: { host: string; port: number }[]
  database: number
  /** The name of the monitored master; Sentinel only. */
  master?: string
  username?: string
  password?: string
}

/** Without the password, in normalised form. */
export function redactRedis(url: RedisUrl): string {
  const scheme = url.topology === 'single' ? (url.tls ? 'rediss' : 'redis') : `redis+${url.topology}`
  const credentials =
    url.username === undefined && url.password === undefined
      ? ''
      : `${encodeURIComponent(url.username ?? '')}${url.password === undefined ? '' : ':***'}@`
  const nodes = url.nodes.map(({ host, port }) => `${host}:${port}`).join(',')
  if (url.topology === 'single') return `${scheme}://${credentials}${nodes}/${url.database}`
  const master = url.master === undefined ? '' : `/${encodeURIComponent(url.master)}`
  const query = [...(url.database === 0 ? [] : [`db=${url.database}`]), ...(url.tls ? ['tls=true'] : [])]
  return `${scheme}://${credentials}${nodes}${master}${query.length > 0 ? `?${query.join('&')}` : ''}`
}

export function parseSingleRedis(rest: string, tls: boolean): RedisUrl {
  const { credentials, nodes, path, query } = splitAuthority(rest, 6379)
  if (nodes.length !== 1) {
    throw wrong('redis:// names one host; use redis+cluster:// or redis+sentinel:// for several')
  }
  refuseUnknown(query, [])
  return {
    engine: 'redis',
    topology: 'single',
    tls,
    nodes,
    database: parseDatabase(path === '' ? '0' : path),
    ...credentials,
  }
}

export function parseSentinel(rest: string): RedisUrl {
  const { credentials, nodes, path, query } = splitAuthority(rest, 26379)
  if (path === '' || path.includes('/'))
    throw wrong('redis+sentinel:// must end in the name of the master, such as /mymaster')
  refuseUnknown(query, ['db', 'tls'])
  return {
    engine: 'redis',
    topology: 'sentinel',
    tls: parseFlag('tls', query.get('tls')),
    nodes,
    master: decode(path),
    database: parseDatabase(query.get('db') ?? '0'),
    ...credentials,
  }
}

export function parseCluster(rest: string): RedisUrl {
  const { credentials, nodes, path, query } = splitAuthority(rest, 6379)
  if (path !== '') throw wrong('redis+cluster:// must not name a database: Redis Cluster has only database 0')
  refuseUnknown(query, ['tls'])
  return {
    engine: 'redis',
    topology: 'cluster',
    tls: parseFlag('tls', query.get('tls')),
    nodes,
    database: 0,
    ...credentials,
  }
}

interface Authority {
  credentials: { username?: string; password?: string }
  nodes: { host: string; port: number }[]
  path: string
  query: URLSearchParams
}

/** Parsed by hand, because `URL` does not accept several hosts. */
function splitAuthority(rest: string, defaultPort: number): Authority {
  if (!rest.startsWith('//')) throw wrong('redis… must have // after the scheme')
  const [beforeQuery = '', queryText = ''] = splitOnce(rest.slice(2), '?')
  // `@` in a password must be percent-encoded, but users forget it: the last `@` is the separator.
  const slash = beforeQuery.indexOf('/', beforeQuery.lastIndexOf('@') + 1)
  const authority = slash < 0 ? beforeQuery : beforeQuery.slice(0, slash)
  const path = slash < 0 ? '' : beforeQuery.slice(slash + 1)
  const at = authority.lastIndexOf('@')
  const hosts = authority.slice(at + 1).split(',')
  return {
    credentials: at < 0 ? {} : parseCredentials(authority.slice(0, at)),
    nodes: hosts.map((host) => parseHost(host, defaultPort)),
    path,
    query: new URLSearchParams(queryText),
  }
}

function parseCredentials(text: string): { username?: string; password?: string } {
  const [user = '', password] = splitOnce(text, ':')
  return {
    ...(user === '' ? {} : { username: decode(user) }),
    ...(password === undefined ? {} : { password: decode(password) }),
  }
}

const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)$/

function parseHost(text: string, defaultPort: number): { host: string; port: number } {
  const match = /^(.*?)(?::(\d{1,5}))?$/.exec(text)
  const host = match?.[1] ?? ''
  const port = match?.[2] === undefined ? defaultPort : Number(match[2])
  if (!HOST.test(host) || port < 1 || port > 65_535) throw wrong('needs hosts written HOST or HOST:PORT')
  return { host, port }
}

function parseDatabase(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw wrong('must end in the number of a database, such as /0')
  return Number(text)
}

function parseFlag(name: string, value: string | null): boolean {
  if (value === null || value === 'false') return false
  if (value === 'true') return true
  throw wrong(`has ${name}, which must be true or false`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrong('has a broken percent-encoding')
  }
}
