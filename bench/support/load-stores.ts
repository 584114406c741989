import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import { CREDENTIALS_ENV, startDynamo } from '../../test/support/dynamodb-server.js'
import { startSingle } from '../../test/support/redis/index.js'
import { inTemporaryDirectory } from './proof.js'
import { type Served, type StartOptions, startRelayCommand, startServe } from './served.js'
import { dynamodbItems, embeddedRows, redisKeys, type StoreKeys } from './store-keys.js'

export const LOAD_STORES = ['embedded', 'redis', 'dynamodb'] as const
export type LoadStore = (typeof LOAD_STORES)[number]

/** Runs the product over a store of this kind as a process of its own, for as long as the work takes. */
export function withServer<T>(
  kind: LoadStore,
  core: number | undefined,
  work: Work<T>,
  { isWatched = false } = {},
): Promise<T> {
  const options = {
    env: isWatched ? { ...ENV, ...PATIENCE } : ENV,
    isWatched,
    ...(core !== undefined && { core }),
  }
  if (kind === 'redis') return onRedis(options, work)
  return kind === 'dynamodb' ? onDynamodb(options, work) : onEmbedded(options, work)
}

/** `keys` counts what the store holds. */
type Work<T> = (server: Served, keys: () => Promise<StoreKeys>) => Promise<T>

/** What a soak asks for too. */
const SPACES = { CATRACA_CACHE_SPACES: JSON.stringify([{ name: 'load', ttlMs: 60_000 }]) }
const ENV = { CATRACA_OTP_PEPPER: 'a pepper of a proof, long enough to be one', ...SPACES }
/** Of a server that is watched for long: a machine that has other work too must not look like a store that is away. */
const PATIENCE = {
  ...{ CATRACA_TRANSFER_TIMEOUT_MS: '300000', CATRACA_EMBEDDED_WRITE_TIMEOUT_MS: '30000' },
  ...{ CATRACA_CODES_TIMEOUT_MS: '30000', CATRACA_LOCKS_TIMEOUT_MS: '30000' },
  ...{ CATRACA_LIMITS_TIMEOUT_MS: '30000', CATRACA_IDEMPOTENCY_TIMEOUT_MS: '30000' },
  // What is kept must be as much as it gets before a soak is judged.
  CATRACA_IDEMPOTENCY_LIFE_MS: '120000',
  ...{ CATRACA_TOKENS_TIMEOUT_MS: '30000', CATRACA_REDIS_COMMAND_TIMEOUT_MS: '30000' },
  ...{ CATRACA_DYNAMODB_READ_TIMEOUT_MS: '30000', CATRACA_DYNAMODB_WRITE_TIMEOUT_MS: '30000' },
}

async function serving<T>(
  store: string,
  options: StartOptions,
  work: Work<T>,
  keys: () => Promise<StoreKeys>,
): Promise<T> {
  const server = await startServe(store, options)
  try {
    return await work(server, keys)
  } finally {
    await server.stop()
  }
}

function onEmbedded<T>(options: StartOptions, work: Work<T>): Promise<T> {
  return inTemporaryDirectory((directory) => {
    const data = `${directory}/data`
    return serving(`embedded:${data}`, options, work, () => embeddedRows(data))
  })
}

async function onRedis<T>(options: StartOptions, work: Work<T>): Promise<T> {
  const redis = await startSingle()
  try {
    return await serving(redis.storeUrl, options, work, () => redisKeys(redis))
  } finally {
    await redis.stop()
  }
}

async function onDynamodb<T>(options: StartOptions, work: Work<T>): Promise<T> {
  const emulator = await startDynamo('dynoxide')
  const names = emulator.names()
  const store = emulator.url(names)
  const given = { ...options.env, ...CREDENTIALS_ENV }
  try {
    await createTables(emulator.client().sdk, names, TABLE_ROLES)
    // Without it memory never knows how far it is, and every check is asked of the table.
    const relay = await startRelayCommand(store, { env: given })
    try {
      return await serving(store, { ...options, env: given }, work, () => dynamodbItems(emulator, names))
    } finally {
      await relay.stop()
    }
  } finally {
    await emulator.stop()
  }
}
