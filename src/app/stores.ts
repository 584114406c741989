import { type EngineSource, isSameStore, openEngine, type StoreEngine, type StoreUse } from './open-engine.js'
import { type EngineWatch, watchedEngine } from './watched-engine.js'

export interface OpenStore {
  source: EngineSource
  /** The URL by which it was first opened, including credentials. */
  store: string
  engine: StoreEngine
  /** Whether the second tier of the cache is in it. */
  holdsCache: boolean
}

/** The main engine, and those of capabilities in other stores. Each store is opened once. */
export class Stores {
  private readonly others: OpenStore[] = []

  private constructor(
    private readonly main: OpenStore,
    private readonly sourceOf: (store: string) => EngineSource,
    private readonly report: (message: string, error: unknown) => void,
    private readonly watch: EngineWatch | undefined,
  ) {
    this.warn(main.engine)
  }

  static async open(
    store: string,
    sourceOf: (store: string) => EngineSource,
    report: (message: string, error: unknown) => void,
    /** Absent if calls are not watched. */
    watch: EngineWatch | undefined,
  ): Promise<Stores> {
    const source = sourceOf(store)
    const engine = watched(await openEngine(source), watch)
    return new Stores({ source, store, engine, holdsCache: false }, sourceOf, report, watch)
  }

  /**
   * The engine of a capability: the main one unless it has its own store. Caches must be opened last: `caches`
   * applies only to a store with no other use.
   */
  async engineOf(store: string | undefined, use: StoreUse = 'guards'): Promise<StoreEngine> {
    const open = store === undefined ? this.main : await this.opened(store, use)
    open.holdsCache ||= use === 'caches'
    return open.engine
  }

  private async opened(store: string, use: StoreUse): Promise<OpenStore> {
    const source = this.sourceOf(store)
    const known = this.open.find((open) => isSameStore(open.source, source))
    if (known !== undefined) return known
    const engine = watched(await openEngine(source, use), this.watch)
    const open = { source, store, engine, holdsCache: false }
    this.others.push(open)
    this.warn(engine)
    return open
  }

  /** The main one first. */
  get open(): readonly OpenStore[] {
    return [this.main, ...this.others]
  }

  async close(): Promise<void> {
    for (const { engine } of [...this.others, this.main]) await engine.close()
  }

  private warn({ warnings }: StoreEngine): void {
    for (const warning of warnings) this.report(warning, undefined)
  }
}

const watched = (engine: StoreEngine, watch: EngineWatch | undefined): StoreEngine =>
  watch === undefined ? engine : watchedEngine(engine, watch)
