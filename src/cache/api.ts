import type { CacheAnswer, SpaceStats } from './types.js'

/** What can be asked of the spaces of a configuration from outside: by HTTP and on the command line. */
export interface CacheApi {
  /** Undefined when nothing is cached. */
  get(space: string, key: string): Promise<CacheAnswer<unknown> | undefined>
  set(space: string, key: string, value: unknown, options?: { ttlMs?: number }): Promise<void>
  /** Whether there was one. */
  delete(space: string, key: string): Promise<boolean>
  /** By space. */
  stats(): Promise<Record<string, SpaceStats>>
}
