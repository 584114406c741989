import { type EngineSource, isSameStore, openEngine, type StoreEngine, type StoreUse } from './open-engine.js'

interface OpenStore {
  source: EngineSource
  engine: StoreEngine
}

/** The engine of everything, and those of capabilities that are kept elsewhere; each store is opened once. */
export class Stores {
  private readonly others: OpenStore[] = []

  private constructor(
    private readonly main: OpenStore,
    private readonly sourceOf: (store: string) => EngineSource,
    private readonly report: (message: string, error: unknown) => void,
  ) {
    this.warn(main.engine)
  }

  static async open(
    store: string,
    sourceOf: (store: string) => EngineSource,
    report: (message: string, error: unknown) => void,
  ): Promise<Stores> {
    const source = sourceOf(store)
    return new Stores({ source, engine: await openEngine(source) }, sourceOf, report)
  }

  /**
   * That of a capability; without a store of its own it is the main one. Caches come last: `caches` counts only for a
   * store that nothing else is kept in.
   */
  async engineOf(store: string | undefined, use: StoreUse = 'guards'): Promise<StoreEngine> {
    if (store === undefined) return this.main.engine
    const source = this.sourceOf(store)
    const known = [this.main, ...this.others].find((open) => isSameStore(open.source, source))
    if (known !== undefined) return known.engine
    const engine = await openEngine(source, use)
    this.others.push({ source, engine })
    this.warn(engine)
    return engine
  }

  get engines(): readonly StoreEngine[] {
    return [this.main, ...this.others].map(({ engine }) => engine)
  }

  async close(): Promise<void> {
    for (const { engine } of [...this.others, this.main]) await engine.close()
  }

  private warn({ warnings }: StoreEngine): void {
    for (const warning of warnings) this.report(warning, undefined)
  }
}
