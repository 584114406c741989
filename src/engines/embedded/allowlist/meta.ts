import { labelsOf } from '../../../guards/allowlist/labels.js'
import type { StoredConfig } from '../../../guards/allowlist/pause.js'
import type { CheckedList, ListRecord } from '../../../guards/allowlist/port.js'
import type { AllowlistType, ListLabels, Precision } from '../../../guards/allowlist/types.js'
import { assertListShape, listJson } from '../../../guards/allowlist/unreadable.js'

/** A list as stored in `lists`, by id. Values that change with every write are in `counters`. */
export interface StoredList extends ListLabels {
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

export function encodeCounters(counters: Counters): Buffer {
  const bytes = Buffer.alloc(48)
  bytes.writeDoubleLE(counters.customerCount, 0)
  bytes.writeDoubleLE(counters.sequence, 8)
  bytes.writeDoubleLE(counters.updatedAt, 16)
  bytes.writeDoubleLE(counters.pendingCount, 24)
  bytes.writeDoubleLE(counters.logStart, 32)
  bytes.writeDoubleLE(counters.logBytes, 40)
  return bytes
}

export function decodeCounters(bytes: Buffer): Counters {
  return {
    customerCount: bytes.readDoubleLE(0),
    sequence: bytes.readDoubleLE(8),
    updatedAt: bytes.readDoubleLE(16),
    pendingCount: bytes.readDoubleLE(24),
    logStart: bytes.readDoubleLE(32),
    logBytes: bytes.readDoubleLE(40),
  }
}

export type EmbeddedList = CheckedList & { generation: number }

export function decodeList(id: string, text: string): StoredList {
  const stored = listJson<StoredList>(id, text)
  assertListShape(id, stored)
  return stored
}

/** A list as checks see it. */
export function listOf(id: string, stored: StoredList): EmbeddedList {
  const { no, name, type, precision, salt, version, createdAt, generation, config } = stored
  const list = {
    ...{ id, incarnation: no, name, type, precision, salt, version, createdAt },
    ...{ shardCount: 1, generation },
  }
  return config === undefined ? list : { ...list, config }
}

export function recordOf(id: string, stored: StoredList, { customerCount, updatedAt }: Counters): ListRecord {
  const { generation: _, ...list } = listOf(id, stored)
  return { ...list, ...labelsOf(stored), customerCount, updatedAt }
}
