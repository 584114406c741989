import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit'
import { CatracaError } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import { checkWindow, type Window, WindowCounts, type WindowStoreOptions } from './window-counts.js'

export type { WindowStoreOptions } from './window-counts.js'

const FIELDS: Fields<WindowStoreOptions> = { catraca: true, resource: true }
const KNOWN = new KnownFields(FIELDS)
const NAMES = { limit: 'limit', windowMs: 'windowMs' }

/** What a process remembers of a window, so that it can take back calls. More is not taken back. */
const MAX_LEASES = 100_000

/**
 * A store of express-rate-limit, whose limit and window count for all processes on one store. Each limiter needs a store
 * of its own, with a resource of its own.
 */
export class CatracaStore implements Store {
  /** Other processes see the same counts. */
  readonly localKeys = false
  /** Tells express-rate-limit that the same key means something else in a store with another resource. */
  readonly prefix: string
  private readonly counts: WindowCounts
  private window: Window | undefined
  private refused: unknown = new CatracaError('INVALID_INPUT', 'the store has no limit: init was not called')
  private undo: UndoableCalls | undefined

  /** Refuses wrong options. */
  constructor(options: WindowStoreOptions) {
    KNOWN.check(options)
    this.counts = new WindowCounts(options)
    this.prefix = `${this.counts.resource}:`
  }

  /**
   * express-rate-limit only logs what is thrown here, and goes on. So a refused limit is thrown again for each request.
   */
  init(options: Options): void {
    this.window = undefined
    try {
      this.window = checkWindow(options, NAMES)
    } catch (error) {
      this.refused = error
      throw error
    }
    const { skipFailedRequests, skipSuccessfulRequests } = options
    const undoes = skipFailedRequests !== false || skipSuccessfulRequests !== false
    this.undo = undoes ? new UndoableCalls(this.window.windowMs, skipFailedRequests !== false) : undefined
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const { hits, resetMs, admitted } = await this.counts.add(key, this.known())
    // Reading the lease encrypts it, so it is read only where it is needed.
    this.undo?.add(key, admitted?.leaseId)
    return { totalHits: hits, resetTime: new Date(Date.now() + resetMs) }
  }

  /** Takes back the last call that this process counted for the key. */
  async decrement(key: string): Promise<void> {
    const leaseId = this.undo?.take(key)
    if (leaseId !== undefined) await this.counts.giveBack(leaseId)
  }

  async resetKey(key: string): Promise<void> {
    await this.counts.reset(key)
  }

  async get(key: string): Promise<ClientRateLimitInfo | undefined> {
    const { hits, resetMs } = await this.counts.read(key, this.known())
    return hits === 0 ? undefined : { totalHits: hits, resetTime: new Date(Date.now() + resetMs) }
  }

  private known(): Window {
    if (this.window === undefined) throw this.refused
    return this.window
  }
}

/**
 * Leases of this window by key, because `decrement` names only the key. A denied call took nothing. If express-rate-limit
 * takes back failed requests, it takes back denied ones too: they are counted, so that no other call is given back for
 * them.
 */
class UndoableCalls {
  private leases = new Map<string, { ids: string[]; denied: number }>()
  private size = 0
  private windowNumber = -1

  constructor(
    private readonly windowMs: number,
    private readonly undoesDenied: boolean,
  ) {}

  add(key: string, leaseId: string | undefined): void {
    const windowNumber = Math.floor(Date.now() / this.windowMs)
    if (windowNumber !== this.windowNumber) {
      // What was taken in a window that has ended cannot be given back.
      this.leases = new Map()
      this.size = 0
      this.windowNumber = windowNumber
    }
    if (this.size === MAX_LEASES || (leaseId === undefined && !this.undoesDenied)) return
    const calls = this.leases.get(key) ?? { ids: [], denied: 0 }
    if (leaseId === undefined) calls.denied++
    else calls.ids.push(leaseId)
    this.leases.set(key, calls)
    this.size++
  }

  take(key: string): string | undefined {
    const calls = this.leases.get(key)
    if (calls === undefined) return undefined
    this.size--
    let leaseId: string | undefined
    if (calls.denied > 0) calls.denied--
    else leaseId = calls.ids.pop()
    if (calls.denied === 0 && calls.ids.length === 0) this.leases.delete(key)
    return leaseId
  }
}
