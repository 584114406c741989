import { randomUUID } from 'node:crypto'
import { invalid } from '../../core/errors.js'
import { type Fields, KnownFields } from '../../core/fields.js'
import { identifier, plainName } from '../../core/identifiers.js'
import { parseMemberInput } from './member-input.js'
import type { Freshness } from './port.js'
import {
  type CheckOptions,
  type ExportOptions,
  IMPORT_MODES,
  type ImportFormat,
  type ImportMode,
  type ImportOptions,
} from './types.js'

const MAX_LISTS_PER_CHECK = 100
const MAX_CUSTOMERS_PER_CHECK = 1000
const MAX_PAIRS_PER_CHECK = 20_000
const MAX_RETURNED_ERRORS = 1000
/** A token of an import into a list of 1,000 shards names one log entry per shard. */
const MAX_TOKEN_LENGTH = 16_000

export const CHECK_FIELDS: Fields<CheckOptions> = { consistency: true, atLeast: true }
const KNOWN_OF_CHECK = new KnownFields(CHECK_FIELDS)
const EXPORT_FIELDS: Fields<ExportOptions> = { format: true, spreadsheet: true }
const KNOWN_OF_EXPORT = new KnownFields(EXPORT_FIELDS)
const FORMATS: readonly ImportFormat[] = ['csv', 'ndjson', 'text']

export function oneOf<T extends string>(path: string, value: unknown, choices: readonly T[]): T {
  if (!choices.includes(value as T)) throw invalid(path, `must be ${choices.join(' or ')}`)
  return value as T
}

/** 1 to 256 characters without control characters. Any language. */
export function listName(value: unknown): string {
  if (
    typeof value !== 'string' ||
    !/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u.test(value) ||
    value.trim() === ''
  ) {
    throw invalid('name', 'must be 1 to 256 characters, not only spaces, without control characters')
  }
  return value
}

export function listIds(ids: unknown): string[] {
  if (!Array.isArray(ids) || ids.length < 1 || ids.length > MAX_LISTS_PER_CHECK) {
    throw invalid('allowlists', `must name 1 to ${MAX_LISTS_PER_CHECK} allowlists`)
  }
  return ids.map((id, i) => plainName(`allowlists[${i}]`, id))
}

/** The customers and lists of a check of many. */
export function pairs(question: { customerIds: unknown; allowlists: unknown }) {
  const { customerIds: ids } = question
  if (!Array.isArray(ids) || ids.length < 1 || ids.length > MAX_CUSTOMERS_PER_CHECK) {
    throw invalid('customerIds', `must name 1 to ${MAX_CUSTOMERS_PER_CHECK} customers`)
  }
  const customers = ids.map((id, i) => identifier(`customerIds[${i}]`, id))
  const lists = listIds(question.allowlists)
  if (customers.length * lists.length > MAX_PAIRS_PER_CHECK) {
    throw invalid('customerIds', `times allowlists must be at most ${MAX_PAIRS_PER_CHECK} pairs`)
  }
  return { customers, lists }
}

export function freshness(options: CheckOptions | undefined): Freshness {
  if (options === undefined) return undefined
  KNOWN_OF_CHECK.check(options)
  const { consistency, atLeast } = options
  if (consistency !== undefined && consistency !== 'strong') throw invalid('consistency', 'must be strong')
  if (atLeast !== undefined && (typeof atLeast !== 'string' || atLeast.length > MAX_TOKEN_LENGTH)) {
    throw invalid('atLeast', 'is not a token that a write returned')
  }
  return consistency ?? (atLeast === undefined ? undefined : { atLeast })
}

export type ParsedImport = ImportOptions & { importId: string; mode: ImportMode; format: ImportFormat }

export function importOptions(options: ImportOptions): ParsedImport {
  const mode = oneOf('mode', options.mode ?? 'add', IMPORT_MODES)
  const format = oneOf('format', options.format ?? 'csv', FORMATS)
  const importId = options.importId === undefined ? randomUUID() : identifier('importId', options.importId)
  if (options.addedBy !== undefined) parseMemberInput('', { addedBy: options.addedBy })
  const { maxErrors = 1, column } = options
  if (column !== undefined && format !== 'csv') throw invalid('column', 'applies to csv only')
  if (column !== undefined && (typeof column !== 'string' || column.length < 1 || column.length > 256)) {
    throw invalid('column', 'must be a heading of 1 to 256 characters, or a number from 1')
  }
  if (!Number.isInteger(maxErrors) || maxErrors < 1 || maxErrors > MAX_RETURNED_ERRORS) {
    throw invalid('maxErrors', `must be a whole number from 1 to ${MAX_RETURNED_ERRORS}`)
  }
  return { ...options, mode, format, importId }
}

const ID_PREFIX = /^[A-Za-z0-9._~:@+=-]{1,256}$/
/** No other id begins so: it is the beginning of a UUID, which is stored in lower case. */
const UUID_PREFIX = /^[0-9a-f]{8}-[0-9a-f-]{0,27}$/i

/** The beginning of a customer id. */
export function memberPrefix(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !ID_PREFIX.test(value)) {
    throw invalid('prefix', 'must be the beginning of a customer id')
  }
  return UUID_PREFIX.test(value) ? value.toLowerCase() : value
}

export function exportForm(options: ExportOptions): ImportFormat | 'spreadsheet' {
  KNOWN_OF_EXPORT.check(options)
  const format = oneOf('format', options.format ?? 'csv', FORMATS)
  const { spreadsheet = false } = options
  if (spreadsheet && format !== 'csv') throw invalid('spreadsheet', 'needs the format csv')
  return spreadsheet ? 'spreadsheet' : format
}
