import { type CsvHead, readHead } from '../../../../../src/guards/allowlist/import/csv-header.js'
import { countExtra, parseRows } from './csv-rows.js'
import { kindOf } from './send.js'

/** The first rows of a CSV file. */
export interface CsvPreview {
  /** Only the first ones. */
  rows: string[][]
  /** Rows with more cells than the first one, of all that were read. */
  rowsWithExtraCells: number
  /** Whether the file goes on behind what was read. */
  isCut: boolean
  /** Whether the server takes the first row for a header by itself. */
  isHeader: boolean
}

/** The id column, and whether the first row is a header. */
export interface ColumnChoice {
  place: number
  isHeader: boolean
}

const HEAD_BYTES = 64 * 1024
const ROWS = 6

/** Undefined for files without columns, and for files that cannot be read: the server reports what is wrong. */
export async function previewOf(file: File): Promise<CsvPreview | undefined> {
  const { contentType, format } = kindOf(file.name)
  if (format !== 'csv') return undefined
  try {
    const { text, isCut } = await headOf(file, contentType === 'application/gzip')
    const rows = parseRows(text)
    if (rows.length === 0) return undefined
    const { isHeader } = headFor(rows[0]!)
    return { rows: rows.slice(0, ROWS), rowsWithExtraCells: countExtra(rows), isCut, isHeader }
  } catch {
    return undefined
  }
}

/** The first bytes of the file as text, without a row that is cut off. */
async function headOf(file: File, isGzip: boolean): Promise<{ text: string; isCut: boolean }> {
  const bytes = isGzip ? await unzipped(file) : new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())
  const text = new TextDecoder().decode(bytes)
  const isCut = bytes.length >= HEAD_BYTES
  return { text: isCut ? text.slice(0, text.lastIndexOf('\n') + 1 || undefined) : text, isCut }
}

async function unzipped(file: File): Promise<Uint8Array> {
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const parts: Uint8Array[] = []
  let size = 0
  while (size < HEAD_BYTES) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    size += value.length
  }
  await reader.cancel()
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer())
}

/** What the server makes of a first row; with a choice, what it makes of it then. */
export function headFor(first: string[], column?: string): CsvHead {
  return readHead(first, column)
}

/** The default of the server. */
export function defaultChoice({ rows, isHeader }: CsvPreview): ColumnChoice {
  return { place: headFor(rows[0]!).columns.customerId, isHeader }
}

/** The choice as a parameter for the server; undefined when it is the default. */
export function columnOf(preview: CsvPreview, choice: ColumnChoice): string | undefined {
  const usual = defaultChoice(preview)
  if (choice.place === usual.place && choice.isHeader === usual.isHeader) return undefined
  const name = preview.rows[0]![choice.place]!
  return choice.isHeader && !usual.isHeader ? name : String(choice.place + 1)
}
