import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { customers, NOW } from '../../src/conformance/support.js'
import type { Redis } from '../../src/engines/redis/link/redis.js'
import type { RedisUrl } from '../../src/engines/redis/url.js'
import type { AllowlistEngine } from '../../src/guards/allowlist/port.js'
import type { ImportMode } from '../../src/guards/allowlist/types.js'
import { holdsExactly, importInSteps, LEASE_MS, type SmallImport } from './bulk.js'

export const STORE_OPTIONS = {
  database: 0,
  commandTimeoutMs: 3000,
  maxLogBytes: 16 * 1024 * 1024,
  staleAfterMs: 3000,
  shardAbove: 5_000_000,
  initialShards: 1,
}

/** Where a process dies: at the nth call of a script, before it is sent or when its answer has come. */
export interface Death {
  script: string
  nth: number
  when: 'before' | 'after'
}

export interface Task {
  url: RedisUrl
  job: 'import' | 'reshard'
  listId: string
  importId?: string
  mode?: ImportMode
  ids?: { from: number; to: number }
  shards?: number
  death: Death
}

/** Calls `interfere` around every run of a script. */
export function watched(
  redis: Redis,
  interfere: (script: string, run: () => Promise<unknown>) => Promise<unknown>,
): Redis {
  return new Proxy(redis, {
    get(target, name: keyof Redis) {
      if (name === 'run') {
        const run: Redis['run'] = (script, keys, args, options) =>
          interfere(script.name, () => target.run(script, keys, args, options))
        return run
      }
      const value = target[name] as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Runs a task in a process of its own, which kills itself with SIGKILL. */
export async function dies(task: Task): Promise<void> {
  const file = fileURLToPath(new URL('./redis-bulk-process.js', import.meta.url))
  const child = fork(file, [JSON.stringify(task)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', `${task.death.script} was reached`)
}

/** Imports these customers from a text body, in small steps. */
export const importIds = (
  engine: AllowlistEngine,
  listId: string,
  ids: readonly string[],
  options: SmallImport,
) =>
  importInSteps(engine, listId, ids, options, { maxRunRows: 4000, batchCustomers: 1500, blockCustomers: 700 })

/** Each of them is on these lists. */
export async function isReversed(engine: AllowlistEngine, ids: readonly string[], lists: string[]) {
  for (const id of ids) {
    const found = await engine.members.listsOf(id, undefined, 10)
    assert.deepEqual(
      found.map(({ list }) => list.id),
      lists,
      id,
    )
  }
}

export { customers, holdsExactly, LEASE_MS, NOW }
