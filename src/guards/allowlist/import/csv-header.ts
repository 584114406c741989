import { invalid } from '../../../core/errors.js'

/** Indexes of the known columns; -1 if absent. */
export interface CsvColumns {
  customerId: number
  addedBy: number
  metadata: number
  expiresAt: number
}

const FIRST_COLUMN_ONLY: CsvColumns = { customerId: 0, addedBy: -1, metadata: -1, expiresAt: -1 }

/** Texts of a first cell that can only be a heading, whatever the other columns are called. */
const ID_HEADINGS = new Set([
  'customer_id',
  'customer-id',
  'customer id',
  'customer',
  'customers',
  'client_id',
  'clientid',
  'id',
  'ids',
  'uuid',
  'guid',
  'cliente',
  'cliente_id',
  'id_cliente',
])

export interface CsvHead {
  columns: CsvColumns
  /** The first row contains headings, not a customer. */
  isHeader: boolean
}

/** Column numbers, from 1. */
const NUMBER = /^[1-9]\d{0,3}$/

/**
 * Interprets the first row. `column` names the id column, by heading or by number. Default: the column
 * `customerId`, or the first. If `column` is a heading, the first row is a header.
 */
export function readHead(cells: string[], column?: string): CsvHead {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const head = headOf(names, column !== undefined && !NUMBER.test(column))
  if (column === undefined) return head
  const place = NUMBER.test(column) ? Number(column) - 1 : find(names, column.trim())
  if (place < 0 || place >= names.length) throw invalid('column', `is not in the first row: ${column}`)
  return { ...head, columns: { ...head.columns, customerId: place } }
}

function headOf(names: string[], isSaidToBe: boolean): CsvHead {
  const named = find(names, 'customerId')
  if (!isSaidToBe && named < 0 && !ID_HEADINGS.has(names[0] ?? '')) {
    return { columns: FIRST_COLUMN_ONLY, isHeader: false }
  }
  const columns = {
    customerId: Math.max(named, 0),
    addedBy: find(names, 'addedBy'),
    metadata: find(names, 'metadata'),
    expiresAt: find(names, 'expiresAt'),
  }
  return { columns, isHeader: true }
}

function find(names: string[], column: string): number {
  const name = column.toLowerCase()
  const first = names.indexOf(name)
  // Which of the two is meant is unknown, and a wrong guess would admit the wrong customers.
  if (first >= 0 && names.indexOf(name, first + 1) >= 0) {
    throw invalid('body', `names the column ${column} twice in its header`)
  }
  return first
}
