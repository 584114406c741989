import { refuseUnknown, splitOnce, wrong } from '../url-parts.js'

export interface DynamodbUrl {
  engine: 'dynamodb'
  region: string
  tables: { allowlists: string; giant: string; idempotency: string; guards: string }
  endpoint?: string
}

const REGION = /^[a-z]{2,}(-[a-z0-9]+)*$/
const TABLE = /^[A-Za-z0-9_.-]{3,255}$/

export function parseDynamodb(rest: string): DynamodbUrl {
  if (!rest.startsWith('//')) throw wrong('dynamodb: must look like dynamodb://REGION/TABLE')
  const [location = '', queryText = ''] = splitOnce(rest.slice(2), '?')
  const [region = '', table = ''] = splitOnce(location, '/')
  if (!REGION.test(region)) throw wrong('dynamodb:// must begin with a region, such as us-east-1')
  const query = new URLSearchParams(queryText)
  refuseUnknown(query, ['endpoint', 'giant', 'idempotency', 'guards'])
  const tables = {
    allowlists: table,
    giant: query.get('giant') ?? 'AllowlistsGiant',
    idempotency: query.get('idempotency') ?? 'mq-probe-idempotency',
    guards: query.get('guards') ?? 'catraca-guards',
  }
  for (const [role, name] of Object.entries(tables)) {
    if (!TABLE.test(name)) {
      throw wrong(`dynamodb:// needs 3 to 255 of A-Z a-z 0-9 _ . - as the table for ${role}`)
    }
  }
  const endpoint = query.get('endpoint')
  if (endpoint === null) return { engine: 'dynamodb', region, tables }
  return { engine: 'dynamodb', region, tables, endpoint: checkEndpoint(endpoint) }
}

export function redactDynamodb({ region, tables, endpoint }: DynamodbUrl): string {
  const { allowlists, ...others } = tables
  const query = Object.entries({ ...(endpoint !== undefined && { endpoint }), ...others })
  return `dynamodb://${region}/${allowlists}?${query.map(([name, value]) => `${name}=${value}`).join('&')}`
}

function checkEndpoint(endpoint: string): string {
  let url: URL
  try {
    url = new URL(endpoint)
  } catch {
    throw wrong('dynamodb:// has an endpoint that is not a URL')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong('dynamodb:// needs an endpoint with http:// or https://')
  if (url.username !== '' || url.password !== '')
    throw wrong('dynamodb:// takes credentials from the AWS SDK, not from the endpoint')
  return endpoint
}
