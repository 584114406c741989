import { isCatracaError } from '../core/errors.js'
import type { Engine, EnginePorts } from '../engines/engine.js'
import {
  type EngineOptions,
  isSameStore,
  openEngine,
  redactStoreUrl,
  storeFacts,
  storeSource,
} from '../engines/registry.js'
import type { OpenedFor, StoreUse } from '../engines/registry-entry.js'
import type { Circuits } from './circuits.js'
import { LateEngine } from './late-engine.js'
import { type EngineWatch, watchedPorts } from './watched-engine.js'

export interface OpenStore {
  readonly engine: Engine
  /** The ports of the engine behind circuits, watched if calls are counted or traced. */
  readonly ports: Partial<EnginePorts>
  /** The URL by which it was first opened, or the engine that was given. */
  readonly store: string | Engine
  /** Where the data is, without credentials. */
  readonly shown: string
  /** Whether the second tier of the cache is in it. */
  holdsCache: boolean
  /** It was away when it was to be opened. */
  readonly isLate: boolean
}

interface StoreParts {
  /** Where everything is that has no store of its own. */
  readonly main: string | Engine
  readonly options: EngineOptions
  readonly instance: OpenedFor & Required<Pick<OpenedFor, 'report'>>
  /** Absent if calls are not watched. */
  readonly watch: EngineWatch | undefined
  readonly circuits: Circuits
  /** Whether memory can answer although a store is away from the start. */
  readonly mayBeAway: boolean
}

/** The main engine, and those of capabilities in other stores. Each store is opened once. */
export class Stores {
  private readonly opened: OpenStore[] = []
  private closing: Promise<void> | undefined
  /** Called when a store that was away at the start has been opened. */
  onOpened: (() => void) | undefined

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
    const { instance, watch, circuits } = this.parts
    const isUrl = typeof store === 'string'
    const opened = isUrl ? await this.openUrl(store, use) : store
    const isLate = opened instanceof LateEngine
    const engine = isLate ? opened.engine : opened
    const ports = circuits.protect(engine, watch === undefined ? engine : watchedPorts(engine, watch))
    const shown = isUrl ? redactStoreUrl(store) : engine.name
    const open = { engine, ports, store, shown, holdsCache: false, isLate }
    this.opened.push(open)
    for (const warning of engine.warnings ?? []) instance.report(warning, undefined)
    return open
  }

  private async openUrl(store: string, use: StoreUse): Promise<Engine | LateEngine> {
    const { options, instance, mayBeAway } = this.parts
    const source = storeSource(store, options)
    const open = () => openEngine(source, { ...instance, use })
    if (!mayBeAway || storeFacts(store).isRemote !== true) return open()
    try {
      return await open()
    } catch (cause) {
      if (!isCatracaError(cause, 'ENGINE_UNAVAILABLE')) throw cause
      const { report } = instance
      const opened = (engine: Engine) => {
        for (const warning of engine.warnings ?? []) report(warning, undefined)
        this.onOpened?.()
      }
      return new LateEngine({ name: source.url.engine, open, cause, report, opened })
    }
  }

  /** The main one first. */
  get open(): readonly OpenStore[] {
    return this.opened
  }

  close(): Promise<void> {
    this.parts.circuits.close()
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
