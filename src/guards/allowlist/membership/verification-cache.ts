import type { MemberState } from '../port.js'

interface Entry {
  /** Undefined: not a member, according to the store. */
  state: MemberState | undefined
  until: number
}

type Generation = Map<number, Map<string, Entry>>

/**
 * Caches recent results of the store, so that a frequently checked member is confirmed once a minute and not at
 * every check. It has two generations. When the younger one is full, the older one is dropped, and entries that
 * are still used move to the younger. So it always holds the last `maxEntries` entries, and at most twice as many.
 */
export class VerificationCache {
  private young: Generation = new Map()
  private old: Generation = new Map()
  private youngSize = 0
  private oldSize = 0
  hits = 0
  misses = 0

  constructor(
    private readonly maxEntries: number,
    private readonly ttlMs: number,
  ) {}

  get size(): number {
    return this.youngSize + this.oldSize
  }

  get(incarnation: number, customerId: string, now: number): Entry | undefined {
    let entry = this.young.get(incarnation)?.get(customerId)
    if (entry === undefined) {
      entry = this.old.get(incarnation)?.get(customerId)
      if (entry !== undefined && entry.until > now) this.put(incarnation, customerId, entry)
    }
    if (entry === undefined || entry.until <= now) {
      this.misses++
      return undefined
    }
    this.hits++
    return entry
  }

  /** Like `get`, without counting or moving entries. */
  peek(incarnation: number, customerId: string, now: number): Entry | undefined {
    const entry = this.young.get(incarnation)?.get(customerId) ?? this.old.get(incarnation)?.get(customerId)
    return entry === undefined || entry.until <= now ? undefined : entry
  }

  set(incarnation: number, customerId: string, state: MemberState | undefined, now: number): void {
    if (this.maxEntries > 0) this.put(incarnation, customerId, { state, until: now + this.ttlMs })
  }

  private put(incarnation: number, customerId: string, entry: Entry): void {
    if (this.youngSize >= this.maxEntries) {
      this.old = this.young
      this.oldSize = this.youngSize
      this.young = new Map()
      this.youngSize = 0
    }
    let ofList = this.young.get(incarnation)
    if (ofList === undefined) this.young.set(incarnation, (ofList = new Map()))
    if (!ofList.has(customerId)) this.youngSize++
    ofList.set(customerId, entry)
  }

  delete(incarnation: number, customerId: string): void {
    if (this.young.get(incarnation)?.delete(customerId)) this.youngSize--
    if (this.old.get(incarnation)?.delete(customerId)) this.oldSize--
  }

  deleteList(incarnation: number): void {
    this.youngSize -= this.young.get(incarnation)?.size ?? 0
    this.oldSize -= this.old.get(incarnation)?.size ?? 0
    this.young.delete(incarnation)
    this.old.delete(incarnation)
  }
}
