import { CatracaError } from '../../../core/errors.js'
import type { CacheNotice, CacheStore } from '../../../guards/cache/port.js'
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
type Opened = CacheStores & { store: CacheStore; writer: Writer<CacheStores> | undefined }

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
    /** Whether writes run on the calling thread too. */
    private readonly writesHere: boolean,
  ) {}

  readonly read = this.forward('read')
  readonly list = this.forward('list')
  readonly begin = this.forward('begin')
  readonly store = this.forward('store')
  readonly renew = this.forward('renew')
  readonly release = this.forward('release')
  readonly write = this.forward('write')
  readonly remove = this.forward('remove')
  readonly expire = this.forward('expire')
  readonly removeTag = this.forward('removeTag')
  readonly clear = this.forward('clear')

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
    const isOver = (await opened.writer?.close()) ?? true
    await opened.environment.close()
    return isOver
  }

  /** Async: also what opening throws is a rejection. */
  private forward<Verb extends 'read' | 'list' | (typeof WRITES)[number]>(verb: Verb): CacheStore[Verb] {
    const call = async (...args: unknown[]): Promise<unknown> =>
      (this.tier()[verb] as (...args: unknown[]) => Promise<unknown>)(...args)
    return call as CacheStore[Verb]
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
    if (this.writesHere) return { ...stores, writer: undefined, store: stores.cache }
    const thread = new URL('./thread.js', import.meta.url)
    const writer = new Writer<CacheStores>(options, stores.environment, this.timeoutMs, thread)
    return { ...stores, writer, store: writer.forward('cache', stores.cache, WRITES) }
  }
}
