import { CatracaError, invalid } from '../../../core/errors.js'
import type { StoredConfig } from '../../../guards/allowlist/pause.js'
import type { CheckedList, ListRecord, WriteToken } from '../../../guards/allowlist/port.js'
import type { AllowlistType, Precision } from '../../../guards/allowlist/types.js'
import { assertListShape, listJson } from '../../../guards/allowlist/unreadable.js'
import type { Environment } from '../lmdb/environment.js'
import { listStart } from './keys.js'

/** A list as it stands in `lists`, by id. What changes at every write stands in `counters`. */
export interface StoredList {
  /** Its number, never given twice: members are stored under it, so a new list never finds old members. */
  no: number
  name: string
  type: AllowlistType
  precision: Precision
  config?: StoredConfig
  salt: string
  version: number
  createdAt: number
  /** The generation that checks see, and the last one ever begun. */
  generation: number
  lastGeneration: number
  /** A replace that is building the next generation. */
  replacing?: { generation: number; importId: string }
  /** Deleted, and not yet swept. */
  deleted?: true
}

export interface Counters {
  customerCount: number
  /** Grows by one at every change of a member, over all processes. */
  sequence: number
  updatedAt: number
  /** Customers of the generation that a running replace is building. */
  pendingCount: number
  /** The oldest entry that the list's log still has, and the bytes of all. */
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

/** Lists and their counters; what checks need of them is kept in memory for as long as nobody changed any list. */
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

  /** For checks: from memory, unless a list was changed by anybody since the last look. */
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
    // Unknown ids are remembered too, but callers choose them: so not without end.
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

  /** The list as it is now; a deleted one is not there. */
  read(id: string): StoredList | undefined {
    const stored = this.readAny(id)
    return stored?.deleted ? undefined : stored
  }

  readAny(id: string): StoredList | undefined {
    const text = this.environment.lists.get(id)
    return text === undefined ? undefined : decodeList(id, text)
  }

  /** The living list with this number. */
  readNumber(no: number): { id: string; stored: StoredList } | undefined {
    const id = this.environment.numbers.get(listStart(no))
    const stored = id === undefined ? undefined : this.read(id)
    return stored?.no === no ? { id: id!, stored } : undefined
  }

  /** In a write transaction: stores the list and tells every process to look again. */
  store(id: string, list: StoredList): void {
    this.environment.lists.putSync(id, JSON.stringify(list))
    this.touch()
  }

  /** In a write transaction: forgets the list for good. */
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

  /** Names a state of a list: everything up to this sequence number. */
  token(no: number, sequence: number): string {
    return `e.${this.storeId}.${no.toString(36)}.${sequence.toString(36)}`
  }

  /** Throws INVALID_INPUT for what is not a token of this store. */
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
