import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import { CREDENTIALS_ENV, startDynamo } from '../../test/support/dynamodb-server.js'
import { startSingle } from '../../test/support/redis/index.js'
import { inTemporaryDirectory } from './proof.js'
import { type Served, startRelayCommand, startServe } from './served.js'

export const LOAD_STORES = ['embedded', 'redis', 'dynamodb'] as const
export type LoadStore = (typeof LOAD_STORES)[number]

/** Runs the product over a store of this kind as a process of its own, for as long as the work takes. */
export function withServer<T>(
  kind: LoadStore,
  core: number | undefined,
  work: (server: Served) => Promise<T>,
): Promise<T> {
  if (kind === 'redis') return onRedis(core, work)
  return kind === 'dynamodb' ? onDynamodb(core, work) : onEmbedded(core, work)
}

/** What a soak asks for too. */
const SPACES = { CATRACA_CACHE_SPACES: JSON.stringify([{ name: 'load', ttlMs: 60_000 }]) }
const env = { CATRACA_OTP_PEPPER: 'a pepper of a proof, long enough to be one', ...SPACES }

async function serving<T>(
  store: string,
  given: Record<string, string>,
  core: number | undefined,
  work: (server: Served) => Promise<T>,
): Promise<T> {
  const server = await startServe(store, { env: given, ...(core !== undefined && { core }) })
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

function onEmbedded<T>(core: number | undefined, work: (server: Served) => Promise<T>): Promise<T> {
  return inTemporaryDirectory((directory) => serving(`embedded:${directory}/data`, env, core, work))
}

async function onRedis<T>(core: number | undefined, work: (server: Served) => Promise<T>): Promise<T> {
  const redis = await startSingle()
  try {
    return await serving(redis.storeUrl, env, core, work)
  } finally {
    await redis.stop()
  }
}

async function onDynamodb<T>(core: number | undefined, work: (server: Served) => Promise<T>): Promise<T> {
  const emulator = await startDynamo('dynoxide')
  const names = emulator.names()
  const store = emulator.url(names)
  const given = { ...env, ...CREDENTIALS_ENV }
  try {
    await createTables(emulator.client().sdk, names, TABLE_ROLES)
    // Without it memory never knows how far it is, and every check is asked of the table.
    const relay = await startRelayCommand(store, { env: given })
    try {
      return await serving(store, given, core, work)
    } finally {
      await relay.stop()
    }
  } finally {
    await emulator.stop()
  }
}
