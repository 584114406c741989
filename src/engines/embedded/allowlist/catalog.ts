import { CatracaError, invalid } from '../../../core/errors.js'
import type { ListRecord, WriteToken } from '../../../guards/allowlist/port.js'
import type { Environment } from '../lmdb/environment.js'
import { listStart } from './keys.js'
import {
  type Counters,
  decodeCounters,
  decodeList,
  type EmbeddedList,
  encodeCounters,
  listOf,
  NEW_COUNTERS,
  recordOf,
  type StoredList,
} from './meta.js'

const MAX_CACHED_LISTS = 10_000

/** Lists and their counters. Checks use copies in memory, which are valid until a list changes. */
export class Catalog {
  private readonly cache = new Map<string, EmbeddedList | undefined>()
  private hits = 0
  private misses = 0
  private cachedSnapshot = -1
  private cachedPulse = -1
  private cachedVersion: string | undefined
  private readonly storeId: string

  constructor(private readonly environment: Environment) {
    this.storeId = environment.settings.get('store')!
  }

  /** For checks: from memory, unless any process changed a list since the last read. */
  checked(id: string): EmbeddedList | undefined {
    this.environment.beginRead()
    if (this.cachedSnapshot !== this.environment.snapshot) this.revalidate()
    const cached = this.cache.get(id)
    if (cached !== undefined || this.cache.has(id)) {
      this.hits++
      return cached
    }
    this.misses++
    const stored = this.read(id)
    const list = stored && listOf(id, stored)
    // Unknown ids are cached too. Callers choose them, so their number is limited.
    if (this.cache.size >= MAX_CACHED_LISTS) this.cache.clear()
    this.cache.set(id, list)
    return list
  }

  cacheFigures(): { size: number; hits: number; misses: number } {
    return { size: this.cache.size, hits: this.hits, misses: this.misses }
  }

  private revalidate(): void {
    const pulse = this.environment.pulse()
    this.cachedSnapshot = this.environment.snapshot
    if (pulse === this.cachedPulse) return
    this.cachedPulse = pulse
    const version = this.environment.settings.get('catalog')
    if (version === this.cachedVersion) return
    this.cachedVersion = version
    this.cache.clear()
  }

  /** The list as it is now; undefined if it was deleted. */
  read(id: string): StoredList | undefined {
    const stored = this.readAny(id)
    return stored?.deleted ? undefined : stored
  }

  readAny(id: string): StoredList | undefined {
    const text = this.environment.lists.get(id)
    return text === undefined ? undefined : decodeList(id, text)
  }

  /** The list with this number; undefined if it was deleted. */
  readNumber(no: number): { id: string; stored: StoredList } | undefined {
    const id = this.environment.numbers.get(listStart(no))
    const stored = id === undefined ? undefined : this.read(id)
    return stored?.no === no ? { id: id!, stored } : undefined
  }

  /** In a write transaction: stores the list and makes every process reload its cached lists. */
  store(id: string, list: StoredList): void {
    this.environment.lists.putSync(id, JSON.stringify(list))
    this.touch()
  }

  /** In a write transaction: removes the list for good. */
  drop(id: string, no: number): void {
    this.environment.lists.removeSync(id)
    this.environment.numbers.removeSync(listStart(no))
    this.environment.counters.removeSync(listStart(no))
    this.touch()
  }

  private touch(): void {
    const { settings } = this.environment
    settings.putSync('catalog', String(Number(settings.get('catalog') ?? 0) + 1))
    this.environment.bumpPulse()
  }

  /** In a write transaction. */
  nextNumber(): number {
    const { settings } = this.environment
    const no = Number(settings.get('next-list') ?? 1)
    if (no >= 0xffffffff)
      throw new CatracaError('STORE_FULL', 'no list number is left: 4,294,967,295 lists have been created')
    settings.putSync('next-list', String(no + 1))
    return no
  }

  counters(no: number): Counters {
    const bytes = this.environment.counters.getBinaryFast(listStart(no))
    return bytes === undefined ? { ...NEW_COUNTERS } : decodeCounters(bytes)
  }

  storeCounters(no: number, counters: Counters): void {
    this.environment.counters.putSync(listStart(no), encodeCounters(counters))
  }

  record(id: string, stored: StoredList): ListRecord {
    return recordOf(id, stored, this.counters(stored.no))
  }

  /** Write token: names the state of a list up to this sequence number. */
  token(no: number, sequence: number): string {
    return `e.${this.storeId}.${no.toString(36)}.${sequence.toString(36)}`
  }

  /** Throws INVALID_INPUT if the token does not belong to this store. */
  readToken(token: string): WriteToken {
    const [kind, store, no, sequence, ...rest] = token.split('.')
    const number = /^[0-9a-z]{1,11}$/
    if (kind !== 'e' || !number.test(no ?? '') || !number.test(sequence ?? '') || rest.length > 0) {
      throw invalid('atLeast', 'is not a token that a write returned')
    }
    if (store !== this.storeId) throw invalid('atLeast', 'is a token of another store')
    const wanted = Number.parseInt(sequence!, 36)
    return {
      incarnation: Number.parseInt(no!, 36),
      isIn: ([log]) => log !== undefined && log.sequence >= wanted,
    }
  }
}
