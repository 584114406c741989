import { defineScript } from '../link/script.js'
import type { BulkContext } from './bulk-context.js'
import { claimField, readClaim } from './imports.js'
import { listKeys } from './keys.js'
import type { Meta } from './meta.js'
import type { ReplaceCleanup } from './replace-cleanup.js'
import { type Task, type TaskResult, together } from './tasks.js'

const FORGET = defineScript('allowlist-import-forget', {
  keys: 1,
  write: true,
  uses: ['allowlist-import-claim'],
})

const IMPORTS_KEPT_MS = 7 * 24 * 3600 * 1000

/** Upkeep of imports: replaces whose process died, generations that are no longer used, records that are old. */
export function importTask(context: BulkContext, cleanup: ReplaceCleanup): Task {
  const old = new OldImports(context)
  return async (listId, meta, now): Promise<TaskResult> => {
    const leaseUntil = await aliveUntil(context, listId, meta)
    const isDead = leaseUntil !== undefined && leaseUntil <= now
    if (isDead) await cleanup.abandonDead(listId, now)
    await cleanup.clean(listId, now)
    const replace = { swept: Number(isDead), more: false }
    const watched = leaseUntil === undefined || isDead ? {} : { nextAt: leaseUntil }
    return together([{ ...replace, ...watched }, await old.forget(listId, now)])
  }
}

/** The end of the lease of the replace that builds the next generation of the list. */
async function aliveUntil(
  { redis }: BulkContext,
  listId: string,
  { replacing }: Meta,
): Promise<number | undefined> {
  if (replacing === undefined) return undefined
  const { importId } = JSON.parse(replacing) as { importId: string }
  const { imports } = listKeys(listId)
  const text = (await redis.read(imports, ['HGET', imports, claimField(importId)])) as string | null
  if (text === null) return 0
  const { state, leaseUntil } = readClaim(text)
  return state === 'running' ? leaseUntil : 0
}

/** Checks a few records in each sweep, then the next ones. */
class OldImports {
  private readonly cursors = new Map<string, string>()

  constructor(private readonly context: BulkContext) {}

  async forget(listId: string, now: number): Promise<TaskResult> {
    const { redis, shards, catalog } = this.context
    const { imports } = listKeys(listId)
    const at = this.cursors.get(listId) ?? '0'
    const [cursor, fields] = (await redis.read(imports, ['HSCAN', imports, at, 'COUNT', '100'])) as [
      string,
      string[],
    ]
    if (cursor === '0') this.cursors.delete(listId)
    else this.cursors.set(listId, cursor)
    const old: string[] = []
    let nextAt = Number.POSITIVE_INFINITY
    for (let i = 0; i < fields.length; i += 2) {
      const [importId, kind] = fields[i]!.split('#') as [string, string?]
      if (kind !== 'claim') continue
      const keptUntil = readClaim(fields[i + 1]!).updatedAt + IMPORTS_KEPT_MS
      if (keptUntil < now) old.push(importId)
      else nextAt = Math.min(nextAt, keptUntil + 1)
    }
    const next = nextAt === Number.POSITIVE_INFINITY ? {} : { nextAt }
    const list = old.length === 0 ? undefined : await catalog.read(listId)
    if (list === undefined) return { swept: 0, more: false, ...next }
    const before = String(now - IMPORTS_KEPT_MS)
    await Promise.all(old.map((importId) => redis.run(FORGET, [imports], [importId, before])))
    const written = old.flatMap((importId) => [importId, `${importId}#batch`])
    await Promise.all(
      shards.all(list).map(({ keys }) => redis.write(keys.writers, ['HDEL', keys.writers, ...written])),
    )
    return { swept: old.length, more: false, ...next }
  }
}
