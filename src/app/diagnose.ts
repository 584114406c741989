import type { Diagnosis } from '../core/diagnosis.js'
import { type EngineOptions, engineSource, isSameStore, type StoreUse } from './open-engine.js'

export interface DiagnoseOptions extends EngineOptions {
  /** What the store is used for. Only a store for caches may evict entries. */
  use: StoreUse
  hasAllowlists: boolean
  cacheSpaces: readonly string[]
}

/** Diagnoses a store for an operator. `where`: the store as it may be shown. Never throws, never hangs. */
export async function diagnoseStore(
  store: string,
  where: string,
  options: DiagnoseOptions,
): Promise<Diagnosis> {
  const { use, hasAllowlists, cacheSpaces, ...engines } = options
  const source = engineSource(store, engines)
  switch (source.engine) {
    case 'embedded': {
      const { directory } = source.options
      if (directory === undefined) return { findings: [], apiKeys: { count: 0, isLocked: false } }
      const { diagnoseEmbedded } = await import('../engines/embedded/diagnose/index.js')
      return diagnoseEmbedded({ ...source.options, directory }, where)
    }
    case 'redis': {
      const { diagnoseRedis } = await import('../engines/redis/diagnose/index.js')
      return diagnoseRedis(source.url, source.options, { use, cacheSpaces }, where)
    }
    case 'dynamodb': {
      const { diagnoseDynamodb } = await import('../engines/dynamodb/diagnose/index.js')
      return diagnoseDynamodb(source.url, source.options, { hasAllowlists }, where)
    }
  }
}

/** Whether two URLs mean the same store. */
export function areSameStore(one: string, other: string): boolean {
  return isSameStore(engineSource(one, {}), engineSource(other, {}))
}

/** All checks of all engines, for the page that lists them. */
export async function engineChecks() {
  const [embedded, redis, dynamodb] = await Promise.all([
    import('../engines/embedded/diagnose/index.js'),
    import('../engines/redis/diagnose/index.js'),
    import('../engines/dynamodb/diagnose/index.js'),
  ])
  return [...embedded.EMBEDDED_CHECKS, ...redis.REDIS_CHECKS, ...dynamodb.DYNAMODB_CHECKS]
}
