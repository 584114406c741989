import { invalid } from '../../errors.js'

/** Where the columns that are read stand; -1: nowhere. */
export interface CsvColumns {
  customerId: number
  addedBy: number
  metadata: number
  expiresAt: number
}

export const FIRST_COLUMN_ONLY: CsvColumns = { customerId: 0, addedBy: -1, metadata: -1, expiresAt: -1 }

/** First cells that can only be a heading, whatever the other columns are called. */
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

/** The columns that a first row names, or undefined when it is a row like every other. */
export function readHeader(cells: string[]): CsvColumns | undefined {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const named = find(names, 'customerId')
  if (named < 0 && !ID_HEADINGS.has(names[0] ?? '')) return undefined
  return {
    customerId: Math.max(named, 0),
    addedBy: find(names, 'addedBy'),
    metadata: find(names, 'metadata'),
    expiresAt: find(names, 'expiresAt'),
  }
}

function find(names: string[], column: keyof CsvColumns): number {
  const name = column.toLowerCase()
  const first = names.indexOf(name)
  // Which of the two is meant cannot be known, and a wrong guess lets the wrong customers pass.
  if (first >= 0 && names.indexOf(name, first + 1) >= 0) {
    throw invalid('body', `names the column ${column} twice in its header`)
  }
  return first
}
