import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type BulkWork, openBulkWork } from '../../src/engines/dynamodb/allowlist/bulk-work.js'
import type { Layout } from '../../src/engines/dynamodb/allowlist/items.js'
import { type OpenedStore, openStore } from '../../src/engines/dynamodb/allowlist/open-store.js'
import type { SizeStep } from '../../src/engines/dynamodb/allowlist/shard-sizes.js'
import { DynamodbUpkeep } from '../../src/engines/dynamodb/allowlist/upkeep.js'
import type { DynamoClient } from '../../src/engines/dynamodb/client/client.js'
import { openCore } from '../../src/engines/dynamodb/core.js'
import type { OpenStoreOptions } from '../../src/engines/dynamodb/options.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import type { AllowlistEngine } from '../../src/guards/allowlist/port.js'
import type { ImportMode } from '../../src/guards/allowlist/types.js'
import { holdsExactly, importInSteps, LEASE_MS, type SmallImport } from './bulk.js'
import { CREDENTIALS, type DynamoServer, PATIENCE } from './dynamodb-server.js'

/** All of the engine but the feed, which bulk work does not need. */
export type BulkEngine = AllowlistEngine & { store: OpenedStore; work: BulkWork }

/** Tables without streams: with them dynoxide slows down with every item that it has ever stored. */
export async function plainTables(server: DynamoServer): Promise<DynamodbUrl> {
  const names = await server.emptyTables(['allowlists', 'giant'])
  return parseStoreUrl(server.url(names)) as DynamodbUrl
}

/** Called around every call of the client. */
type Interfere = (call: string, run: () => Promise<unknown>) => Promise<unknown>

export async function openWithoutFeed(
  url: DynamodbUrl,
  interfere?: Interfere,
  { sizes, ...options }: Partial<OpenStoreOptions> & { sizes?: readonly SizeStep[] } = {},
): Promise<BulkEngine> {
  const given = { ...PATIENCE, credentials: CREDENTIALS, checkTables: false, ...options }
  const opened = await openStore(url, given)
  const client = interfere === undefined ? opened.client : watched(opened.client, interfere)
  const store = { ...opened, client }
  const core = openCore(store)
  const work = openBulkWork(store, sizes)
  const upkeep = new DynamodbUpkeep(store, { ...core.tasks, ...work.tasks })
  return { ...core, bulk: work.bulk, upkeep, store, work } as Omit<BulkEngine, 'changes'> as BulkEngine
}

/** `call` is the method and what it is for, such as `transactWrite allowlist.import`. */
function watched(client: DynamoClient, interfere: Interfere): DynamoClient {
  return new Proxy(client, {
    get(target, name: keyof DynamoClient) {
      const value = target[name] as unknown
      if (typeof value !== 'function') return value
      const method = value.bind(target) as (...parameters: unknown[]) => Promise<unknown>
      if (name === 'queryPages' || name === 'close') return method
      return (...parameters: unknown[]) =>
        interfere(`${name} ${String(parameters[0])}`, () => method(...parameters))
    },
  })
}

/** Where somebody dies: at the nth such call, before it is sent or when its answer has come. */
export interface Death {
  call: string
  nth: number
  when: 'before' | 'after'
}

export interface Task {
  url: DynamodbUrl
  listId: string
  job: { mode: ImportMode; importId: string; ids: string[] } | { to: Layout }
  death: Death
}

/** Calls `die` where a task dies. */
export function dying({ call: where, nth, when }: Death, die: () => void): Interfere {
  let calls = 0
  return async (call, run) => {
    const isHere = call === where && ++calls === nth
    if (isHere && when === 'before') die()
    const answer = await run()
    if (isHere) die()
    return answer
  }
}

export async function runTask({ url, listId, job }: Task, interfere: Interfere): Promise<void> {
  const engine = await openWithoutFeed(url, interfere)
  if ('to' in job) await engine.work.mover.move(listId, job.to, { leaseMs: 300 })
  else await importIds(engine, listId, job.ids, job)
}

/** Runs a task until it dies. From there on it sends nothing, as if its process had been killed. */
export async function dies(task: Task): Promise<void> {
  const sent: Promise<unknown>[] = []
  let isDead = false
  const atDeath = dying(task.death, () => {
    isDead = true
  })
  const send = async (run: () => Promise<unknown>): Promise<unknown> => {
    if (isDead) throw new Error('dead')
    sent.push(run())
    return sent.at(-1)
  }
  await runTask(task, (call, run) => atDeath(call, () => send(run))).catch((error: unknown) => {
    if (!isDead) throw error
  })
  assert.ok(isDead, `${task.death.call} was reached ${task.death.nth} times`)
  await Promise.allSettled(sent)
}

/** Runs a task in a process of its own, which kills itself with SIGKILL. */
export async function isKilled(task: Task): Promise<void> {
  const file = fileURLToPath(new URL('./dynamodb-bulk-process.js', import.meta.url))
  const child = fork(file, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  child.send(task)
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', `${task.death.call} was reached ${task.death.nth} times`)
}

/** Imports these customers from a text body, in small steps. */
export const importIds = (
  engine: AllowlistEngine,
  listId: string,
  ids: readonly string[],
  options: SmallImport,
) => importInSteps(engine, listId, ids, options, { maxRunRows: 400, batchCustomers: 150, blockCustomers: 70 })

export { holdsExactly, LEASE_MS }
