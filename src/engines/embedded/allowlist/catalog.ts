import { CatracaError, invalid } from '../../../core/errors.js'
import type { StoredConfig } from '../../../guards/allowlist/pause.js'
import type { CheckedList, ListRecord, WriteToken } from '../../../guards/allowlist/port.js'
import type { AllowlistType, Precision } from '../../../guards/allowlist/types.js'
import { assertListShape, listJson } from '../../../guards/allowlist/unreadable.js'
import type { Environment } from '../lmdb/environment.js'
import { listStart } from './keys.js'

/** A list as stored in `lists`, by id. Values that change with every write are in `counters`. */
export interface StoredList {
  /**
   * The list's number, never used again. Members are stored under it, so a new list never finds members of a deleted
   * one.
   */
  no: number
  name: string
  type: AllowlistType
  precision: Precision
  config?: StoredConfig
  salt: string
  version: number
  createdAt: number
  /** The generation that checks see, and the last one that a replace began. */
  generation: number
  lastGeneration: number
  /** A replace that is building the next generation. */
  replacing?: { generation: number; importId: string }
  /** Deleted, but its rows are not swept yet. */
  deleted?: true
}

export interface Counters {
  customerCount: number
  /** Increases by one with every change of a member, by any process. */
  sequence: number
  updatedAt: number
  /** Customers of the generation that a running replace is building. */
  pendingCount: number
  /** The number of the oldest entry in the list's change log, and the bytes of all entries. */
  logStart: number
  logBytes: number
}

export const NEW_COUNTERS: Counters = {
  customerCount: 0,
  sequence: 0,
  updatedAt: 0,
  pendingCount: 0,
  logStart: 1,
  logBytes: 0,
}

const MAX_CACHED_LISTS = 10_000

export type EmbeddedList = CheckedList & { generation: number }

export function decodeList(id: string, text: string): StoredList {
  const stored = listJson<StoredList>(id, text)
  assertListShape(id, stored)
  return stored
}

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
    const list = this.load(id)
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

  private load(id: string): EmbeddedList | undefined {
    const stored = this.read(id)
    if (stored === undefined) return undefined
    const { no, generation, name, type, precision, salt, version, createdAt, config } = stored
    const list = {
      id,
      incarnation: no,
      generation,
      name,
      type,
      precision,
      salt,
      version,
      createdAt,
      shardCount: 1,
    }
    return config === undefined ? list : { ...list, config }
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
      throw new CatracaError('STORE_FULL', 'four thousand million lists have been created')
    settings.putSync('next-list', String(no + 1))
    return no
  }

  counters(no: number): Counters {
    const bytes = this.environment.counters.getBinaryFast(listStart(no))
    if (bytes === undefined) return { ...NEW_COUNTERS }
    return {
      customerCount: bytes.readDoubleLE(0),
      sequence: bytes.readDoubleLE(8),
      updatedAt: bytes.readDoubleLE(16),
      pendingCount: bytes.readDoubleLE(24),
      logStart: bytes.readDoubleLE(32),
      logBytes: bytes.readDoubleLE(40),
    }
  }

  storeCounters(no: number, counters: Counters): void {
    const bytes = Buffer.alloc(48)
    bytes.writeDoubleLE(counters.customerCount, 0)
    bytes.writeDoubleLE(counters.sequence, 8)
    bytes.writeDoubleLE(counters.updatedAt, 16)
    bytes.writeDoubleLE(counters.pendingCount, 24)
    bytes.writeDoubleLE(counters.logStart, 32)
    bytes.writeDoubleLE(counters.logBytes, 40)
    this.environment.counters.putSync(listStart(no), bytes)
  }

  record(id: string, stored: StoredList): ListRecord {
    const { no, name, type, precision, config, salt, version, createdAt } = stored
    const { customerCount, updatedAt } = this.counters(no)
    const record: ListRecord = {
      id,
      incarnation: no,
      name,
      type,
      precision,
      salt,
      customerCount,
      version,
      shardCount: 1,
      createdAt,
      updatedAt,
    }
    if (config !== undefined) record.config = config
    return record
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
