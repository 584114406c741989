import { type CsvHead, readHead } from '../../../../../src/guards/allowlist/import/csv-header.js'
import { kindOf } from './send.js'

/** The first rows of a CSV file. */
export interface CsvPreview {
  rows: string[][]
  /** Whether the server takes the first row as a header by default. */
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
    const rows = parseRows(await headOf(file, contentType === 'application/gzip'))
    return rows.length === 0 ? undefined : { rows, isHeader: headFor(rows[0]!).isHeader }
  } catch {
    return undefined
  }
}

/** The first bytes of the file as text, without an incomplete last row. */
async function headOf(file: File, isGzip: boolean): Promise<string> {
  const bytes = isGzip ? await unzipped(file) : new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())
  const text = new TextDecoder().decode(bytes)
  const isCut = bytes.length >= HEAD_BYTES
  return isCut ? text.slice(0, text.lastIndexOf('\n') + 1 || undefined) : text
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

/** As the server reads CSV: `,` `;` or tab, whichever comes first; blank rows do not count. */
export function parseRows(text: string): string[][] {
  const rows: string[][] = []
  let separator: string | undefined
  let cells: string[] = []
  let at = 0
  while (at < text.length && rows.length < ROWS) {
    const quoted = text[at] === '"' ? /"((?:[^"]|"")*)"?/y : undefined
    const plain =
      separator === undefined
        ? /[^\n,;\t]*/y
        : separator === '\t'
          ? /[^\n\t]*/y
          : new RegExp(`[^\n${separator}]*`, 'y')
    const pattern = quoted ?? plain
    pattern.lastIndex = at
    const [whole, inside] = pattern.exec(text)!
    cells.push(inside === undefined ? whole.trim() : inside.replaceAll('""', '"'))
    at += whole.length
    if (text[at] === '\r') at++
    const end = text[at++]
    if (end === '\n' || end === undefined) {
      if (cells.some((cell) => cell !== '')) rows.push(cells)
      else separator = rows.length === 0 ? undefined : separator
      cells = []
    } else separator ??= end
  }
  return rows
}

/** How the server interprets a first row, with or without a chosen column. */
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
