import { CatracaError, invalid, isCatracaError } from '../../core/errors.js'
import type { Target } from '../commands/support/target.js'

/** What a file of configuration holds: FIXA lists, ONDA lists, limits of all levels, and parents of entities. */
export const KINDS = ['lists', 'waves', 'limits', 'entities'] as const
export type KindName = (typeof KINDS)[number]

/** A record as a store has it, or as a file wants it. */
export type RecordValue = Record<string, unknown>

export interface StoredRecord {
  value: RecordValue
  /** What a change of it must find: a number for lists, a hash for others. */
  version: number | string
  /** For people. */
  remark?: string
}

/** A record that a file names. Without a value it is to be deleted. */
export interface FileRecord<Address = unknown> {
  address: Address
  value: RecordValue | undefined
}

export interface PlannedChange<Address = unknown> {
  kind: KindName
  action: 'create' | 'change' | 'delete'
  address: Address
  version?: number | string
  before?: RecordValue
  after?: RecordValue
  remark?: string
}

/** All that is particular to one kind. */
export interface Kind<Address = unknown> {
  readonly name: KindName
  /** The sections of a file that hold it. */
  readonly sections: readonly string[]
  /** The records of one section, validated. */
  read(section: string, content: RecordValue): FileRecord<Address>[]
  /** Words that name a record: unique within its kind, and where the file has it. */
  words(address: Address): string[]
  get(target: Target, address: Address): Promise<StoredRecord | undefined>
  all(target: Target): AsyncIterable<{ address: Address } & StoredRecord>
  /** Where an export writes a record: its section, and its keys in it. */
  place(address: Address): [section: string, ...keys: string[]]
  /** Refuses what cannot become the wanted record. */
  refuse?(address: Address, before: RecordValue, after: RecordValue): void
}

export function mapping(path: string, value: unknown): RecordValue {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RecordValue
  throw invalid(path, 'must be a mapping')
}

/** One file has many records, so each message begins with the place of the mistake. */
export function at<T>(words: readonly string[], check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!isCatracaError(error, 'INVALID_INPUT')) throw error
    throw new CatracaError('INVALID_INPUT', `${words.join(' ')}: ${error.message}`, {
      errors: error.errors ?? [],
    })
  }
}

/** The fields of a record that a file may state. */
export function known(value: RecordValue, fields: readonly string[]): RecordValue {
  for (const name of Object.keys(value)) {
    if (!fields.includes(name)) throw invalid(name.slice(0, 64), 'is not a known field')
  }
  return value
}
