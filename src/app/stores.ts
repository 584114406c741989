import type { Engine, EnginePorts } from '../engines/engine.js'
import {
  type EngineOptions,
  isSameStore,
  openEngine,
  redactStoreUrl,
  storeSource,
} from '../engines/registry.js'
import type { OpenedFor, StoreUse } from '../engines/registry-entry.js'
import { type EngineWatch, watchedPorts } from './watched-engine.js'

export interface OpenStore {
  readonly engine: Engine
  /** The ports of the engine, watched if calls are counted or traced. */
  readonly ports: Partial<EnginePorts>
  /** The URL by which it was first opened, or the engine that was given. */
  readonly store: string | Engine
  /** Where the data is, without credentials. */
  readonly shown: string
  /** Whether the second tier of the cache is in it. */
  holdsCache: boolean
}

interface StoreParts {
  /** Where everything is that has no store of its own. */
  readonly main: string | Engine
  readonly options: EngineOptions
  readonly instance: OpenedFor & Required<Pick<OpenedFor, 'report'>>
  /** Absent if calls are not watched. */
  readonly watch: EngineWatch | undefined
}

/** The main engine, and those of capabilities in other stores. Each store is opened once. */
export class Stores {
  private readonly opened: OpenStore[] = []
  private closing: Promise<void> | undefined

  constructor(private readonly parts: StoreParts) {}

  /**
   * The store of a capability: the main one unless it has its own. The main one must be opened first, and caches
   * last: `caches` applies only to a store with no other use.
   */
  async of(store: string | undefined, use: StoreUse = 'guards'): Promise<OpenStore> {
    const wanted = store ?? this.parts.main
    const open = this.opened.find((open) => isSame(open.store, wanted)) ?? (await this.opening(wanted, use))
    open.holdsCache ||= use === 'caches'
    return open
  }

  private async opening(store: string | Engine, use: StoreUse): Promise<OpenStore> {
    const { options, instance, watch } = this.parts
    const isUrl = typeof store === 'string'
    const engine = isUrl ? await openEngine(storeSource(store, options), { ...instance, use }) : store
    const ports = watch === undefined ? engine : watchedPorts(engine, watch)
    const shown = isUrl ? redactStoreUrl(store) : engine.name
    const open = { engine, ports, store, shown, holdsCache: false }
    this.opened.push(open)
    for (const warning of engine.warnings ?? []) instance.report(warning, undefined)
    return open
  }

  /** The main one first. */
  get open(): readonly OpenStore[] {
    return this.opened
  }

  close(): Promise<void> {
    this.closing ??= closeAll(this.opened)
    return this.closing
  }

  /** After a failure: closes what was opened here. An engine that was given stays with whoever made it. */
  abandon(): Promise<void> {
    return closeAll(this.opened.filter(({ store }) => typeof store === 'string'))
  }
}

async function closeAll(stores: readonly OpenStore[]): Promise<void> {
  for (const { engine } of stores.toReversed()) await engine.close()
}

const isSame = (one: string | Engine, other: string | Engine): boolean =>
  one === other || (typeof one === 'string' && typeof other === 'string' && isSameStore(one, other))
