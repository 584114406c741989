import { CatracaError, isCatracaError } from '../core/errors.js'
import { later } from '../core/timers.js'
import type { Engine, FullEngine } from '../engines/engine.js'
import type { CheckedList, CheckStore, CheckView, Freshness } from '../guards/allowlist/port.js'
import { CHANGES, CHECKS, type Members, PORT_LIST } from './watched-ports.js'

const RETRY_MS = 1000

interface LateParts {
  /** Of the engine that is to be opened. */
  name: string
  open(): Promise<FullEngine>
  /** Why the first attempt failed. */
  cause: unknown
  report(message: string, error: unknown): void
  /** The store has answered, and the engine is open. */
  opened(engine: FullEngine): void
}

/** Members of ports that are no methods, with what they are until the engine says it. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ isImmediate: false, storesAuditEntries: false },
  ...{ maxResponseBytes: Number.MAX_SAFE_INTEGER, maxValueBytes: Number.MAX_SAFE_INTEGER, pollMs: 1000 },
}

type Stop = (() => void) | { stop(): void }

/**
 * An engine whose store is away when the process starts. Calls fail as they do when a store goes away later, until it
 * answers; from then on they go to the engine.
 */
export class LateEngine {
  private real: FullEngine | undefined
  private failure: unknown
  private timer: NodeJS.Timeout | undefined
  private attempt: Promise<void> = Promise.resolve()
  private isClosed = false
  private readonly waiting = new Set<() => void>()
  readonly engine: Engine

  constructor(private readonly parts: LateParts) {
    this.failure = parts.cause
    this.engine = this.present()
    parts.report(`${parts.name} is away: it is asked again every second until it answers`, parts.cause)
    this.tryLater()
  }

  private tryLater(): void {
    this.timer = later(() => {
      this.attempt = this.tryNow()
    }, RETRY_MS).unref()
  }

  private async tryNow(): Promise<void> {
    const { name, open, report, opened } = this.parts
    try {
      const engine = await open()
      if (this.isClosed) return await engine.close()
      this.real = engine
      for (const begin of [...this.waiting]) begin()
      this.waiting.clear()
      report(`${name} answers, and is open now`, undefined)
      opened(engine)
    } catch (error) {
      // A table that differs, a password that is wrong: waiting does not help, and somebody may repair it.
      const isNew = String(error) !== String(this.failure)
      if (isNew && !isCatracaError(error, 'ENGINE_UNAVAILABLE')) report(`${name} cannot be opened`, error)
      this.failure = error
      if (!this.isClosed) this.tryLater()
    }
  }

  private away(): CatracaError {
    const message = `${this.parts.name} was away when this process started, and has not answered yet`
    return new CatracaError('ENGINE_UNAVAILABLE', message, { cause: this.failure })
  }

  private present(): Engine {
    const ports: Record<string, object> = {}
    for (const { guard, part, members } of PORT_LIST) {
      const port = members === CHECKS ? this.checks() : this.port(guard, part, members)
      ports[guard] = part === undefined ? port : { ...ports[guard], [part]: port }
    }
    const real = () => this.real
    const required = (): FullEngine => {
      if (this.real === undefined) throw this.away()
      return this.real
    }
    const forward = <Name extends 'fleet' | 'resharding'>(name: Name, methods: readonly string[]) =>
      Object.fromEntries(
        methods.map((method) => [method, this.method(() => real()?.[name], method, 'call')]),
      ) as unknown as NonNullable<Engine[Name]>
    return {
      ...ports,
      name: this.parts.name,
      health: async () => required().health(),
      close: () => this.close(),
      connectionFailures: () => real()?.connectionFailures?.() ?? 0,
      forThreads: () => required().forThreads!(),
      refresh: () => real()?.refresh?.(),
      listCache: () => real()?.listCache?.() ?? { size: 0, hits: 0, misses: 0 },
      commandTimes: () => real()?.commandTimes?.() ?? new Map(),
      figures: () => real()?.figures?.() ?? {},
      fleet: forward('fleet', ['announce', 'leave', 'list']),
      resharding: forward('resharding', ['reshard', 'progress']),
    }
  }

  private port(guard: string, part: string | undefined, members: Members): object {
    const find = (): object | undefined => {
      const port = (this.real as unknown as Record<string, Record<string, object>> | undefined)?.[guard]
      return part === undefined ? port : port?.[part]
    }
    const port: Record<string, unknown> = {}
    for (const [name, how] of Object.entries(members)) {
      if (name in VALUES) {
        const get = () => (find() as Record<string, unknown> | undefined)?.[name] ?? VALUES[name]
        Object.defineProperty(port, name, { enumerable: true, get })
      } else if (name === 'watch') port.watch = this.watch(find, members === CHANGES)
      else if (name === 'hasChanges')
        port.hasChanges = () => this.real?.allowlists.changes.hasChanges() ?? false
      else port[name] = this.method(find, name, how)
    }
    return port
  }

  /** Of calls, a promise rejects; scans, which return no promise, throw. */
  private method(find: () => object | undefined, name: string, how: 'call' | 'plain') {
    return (...args: unknown[]): unknown => {
      const target = find() as Record<string, (...args: unknown[]) => unknown> | undefined
      if (target !== undefined) return target[name]!(...args)
      if (how === 'plain' && name !== 'replace') throw this.away()
      return Promise.reject(this.away())
    }
  }

  /** Listens as soon as there is something to hear. */
  private watch(find: () => object | undefined, isFeed: boolean) {
    return (...args: unknown[]): Stop => {
      let stop: Stop | undefined
      const begin = (): void => {
        stop = (find() as { watch(...args: unknown[]): Stop }).watch(...args)
      }
      const end = (): void => {
        this.waiting.delete(begin)
        if (typeof stop === 'function') stop()
        else stop?.stop()
      }
      if (this.real === undefined) this.waiting.add(begin)
      else begin()
      return isFeed ? { stop: end } : end
    }
  }

  private checks(): CheckStore {
    const present = this.view(undefined)
    const strong = this.view('strong')
    const required = (): CheckStore => {
      if (this.real === undefined) throw this.away()
      return this.real.allowlists.checks
    }
    return {
      view: (freshness) =>
        freshness === undefined ? present : freshness === 'strong' ? strong : required().view(freshness),
      readToken: (token) => required().readToken(token),
      tokenAt: (list, position) => this.real?.allowlists.checks.tokenAt(list, position),
    }
  }

  /** A view of a network store is the same object at every time, and no promise. */
  private view(freshness: Exclude<Freshness, object>): CheckView {
    let known: CheckView | undefined
    const view = (): CheckView | undefined => {
      known ??= this.real?.allowlists.checks.view(freshness) as CheckView | undefined
      return known
    }
    return {
      list: (listId) => {
        const now = view()
        return now === undefined ? Promise.reject(this.away()) : now.list(listId)
      },
      member: (list: CheckedList, customerId) => {
        const now = view()
        return now === undefined ? Promise.reject(this.away()) : now.member(list, customerId)
      },
    }
  }

  private async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    if (this.real !== undefined) return this.real.close()
    // An attempt that hangs ends by its own timeouts, and closes what it opened.
    void this.attempt
  }
}
