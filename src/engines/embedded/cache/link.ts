import { CatracaError } from '../../../core/errors.js'
import type {
  CacheItem,
  CacheNotice,
  CacheStore,
  FillClaim,
  FilledItem,
  FillStart,
  StoredValue,
  StoreOutcome,
} from '../../../guards/cache/port.js'
import { Environment, type EnvironmentOptions, type Opening } from '../lmdb/environment.js'
import { Writer } from '../lmdb/writer.js'
import { EmbeddedCache, MAX_VALUE_BYTES } from './store.js'

export interface CacheEnvironmentOptions extends EnvironmentOptions {
  /** Id of this instance. Its own changes are not reported to it. */
  origin: string
  maxBytes: number
}

export function openCacheStores(options: CacheEnvironmentOptions, opening: Opening = {}) {
  const environment = Environment.open(options, opening)
  return { environment, cache: new EmbeddedCache(environment, options) }
}

type CacheStores = ReturnType<typeof openCacheStores>
type Opened = CacheStores & { store: CacheStore; writer: Writer<CacheStores> }

/** How long to wait for a stopped process that holds the lock of the cache. */
const PATIENCE_MS = 200

const WRITES = [
  'begin',
  'store',
  'renew',
  'release',
  'write',
  'remove',
  'expire',
  'removeTag',
  'clear',
  'sweep',
] as const

/** The serving thread's side of the cache: reads run here, writes on a worker thread. Opened at the first use. */
export class CacheLink implements CacheStore {
  readonly maxValueBytes = MAX_VALUE_BYTES
  private opened: Opened | undefined
  private isClosed = false
  /** Why opening failed, and until when it is not tried again. */
  private refusal: { error: unknown; untilMs: number } | undefined

  constructor(
    private readonly options: () => CacheEnvironmentOptions,
    private readonly timeoutMs: number,
  ) {}

  async read(
    space: string,
    keys: readonly string[],
    now: number,
  ): Promise<readonly (StoredValue | undefined)[]> {
    return this.tier().read(space, keys, now)
  }

  async begin(
    space: string,
    keys: readonly string[],
    claim: FillClaim,
    now: number,
  ): Promise<readonly FillStart[]> {
    return this.tier().begin(space, keys, claim, now)
  }

  async store(space: string, fills: readonly FilledItem[], now: number): Promise<readonly StoreOutcome[]> {
    return this.tier().store(space, fills, now)
  }

  async renew(
    space: string,
    keys: readonly string[],
    lease: { token: string; leaseMs: number },
    now: number,
  ): Promise<readonly boolean[]> {
    return this.tier().renew(space, keys, lease, now)
  }

  async release(space: string, keys: readonly string[], token: string): Promise<void> {
    return this.tier().release(space, keys, token)
  }

  async write(space: string, items: readonly CacheItem[], now: number): Promise<void> {
    return this.tier().write(space, items, now)
  }

  async remove(space: string, keys: readonly string[], now: number): Promise<readonly boolean[]> {
    return this.tier().remove(space, keys, now)
  }

  async expire(space: string, keys: readonly string[], keepMs: number, now: number): Promise<void> {
    return this.tier().expire(space, keys, keepMs, now)
  }

  async removeTag(space: string, tag: string, now: number): Promise<void> {
    return this.tier().removeTag(space, tag, now)
  }

  async clear(space: string, now: number): Promise<void> {
    return this.tier().clear(space, now)
  }

  watch(listener: (notice: CacheNotice) => void): () => void {
    return this.tier().watch(listener)
  }

  /** If this process never opened the cache, other processes sweep it. */
  async sweep(now: number): Promise<{ more: boolean }> {
    return this.opened?.store.sweep(now) ?? { more: false }
  }

  /** False: the thread still waits for the lock. */
  async close(): Promise<boolean> {
    this.isClosed = true
    const { opened } = this
    if (opened === undefined) return true
    opened.cache.stop()
    const isOver = await opened.writer.close()
    await opened.environment.close()
    return isOver
  }

  private tier(): CacheStore {
    if (this.isClosed) throw new CatracaError('CLOSED', 'this instance was closed')
    this.opened ??= this.open()
    return this.opened.store
  }

  /** Opening blocks the event loop, so the wait is short, and a failure is not retried at once. */
  private openStores(options: CacheEnvironmentOptions): CacheStores {
    if (this.refusal !== undefined && performance.now() < this.refusal.untilMs) throw this.refusal.error
    try {
      return openCacheStores(options, { patienceMs: PATIENCE_MS })
    } catch (error) {
      this.refusal = { error, untilMs: performance.now() + this.timeoutMs }
      throw error
    }
  }

  private open(): Opened {
    const options = this.options()
    const stores = this.openStores(options)
    const thread = new URL('./thread.js', import.meta.url)
    const writer = new Writer<CacheStores>(options, stores.environment, this.timeoutMs, thread)
    return { ...stores, writer, store: writer.forward('cache', stores.cache, WRITES) }
  }
}
