import { type DynamodbUrl, parseDynamodb, redactDynamodb } from './store-url-dynamodb.js'
import { wrong } from './store-url-parts.js'
import {
  parseCluster,
  parseSentinel,
  parseSingleRedis,
  type RedisUrl,
  redactRedis,
} from './store-url-redis.js'

/** A parsed store URL. This only parses; `src/app` decides which engines exist. */
export type StoreUrl = { engine: 'embedded'; path: string } | { engine: 'memory' } | RedisUrl | DynamodbUrl

export const STORE_URL_FORMS = [
  'embedded:DIRECTORY',
  'memory:',
  'redis://HOST:PORT/DATABASE',
  'rediss://…',
  'redis+sentinel://HOST:PORT,…/MASTER',
  'redis+cluster://HOST:PORT,…',
  'dynamodb://REGION/TABLE',
] as const

export function parseStoreUrl(text: string): StoreUrl {
  const colon = text.indexOf(':')
  const scheme = colon < 0 ? '' : text.slice(0, colon).toLowerCase()
  const rest = text.slice(colon + 1)
  switch (scheme) {
    case 'embedded':
      return parseEmbedded(rest)
    case 'memory':
      if (rest !== '') throw wrong('memory: must have nothing after the colon')
      return { engine: 'memory' }
    case 'redis':
    case 'rediss':
      return parseSingleRedis(rest, scheme === 'rediss')
    case 'redis+sentinel':
      return parseSentinel(rest)
    case 'redis+cluster':
      return parseCluster(rest)
    case 'dynamodb':
      return parseDynamodb(rest)
    default:
      throw wrong(`must have one of the forms ${STORE_URL_FORMS.join(', ')}`)
  }
}

/** The URL for display: without passwords, in normalised form. */
export function redactStoreUrl(text: string): string {
  const url = parseStoreUrl(text)
  switch (url.engine) {
    case 'embedded':
      return `embedded:${url.path}`
    case 'memory':
      return 'memory:'
    case 'redis':
      return redactRedis(url)
    case 'dynamodb':
      return redactDynamodb(url)
  }
}

function parseEmbedded(rest: string): StoreUrl {
  // embedded:///var/lib/x is an absolute path, as in file:// URLs.
  const path = rest.startsWith('///') ? rest.slice(2) : rest
  if (path === '') throw wrong('embedded: must name a directory, such as embedded:./catraca-data')
  if (path.startsWith('//')) throw wrong('embedded: takes a directory, not a host')
  if (path.includes('\0')) throw wrong('embedded: names a directory with a zero byte')
  return { engine: 'embedded', path }
}
