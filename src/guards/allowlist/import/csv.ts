import { addWithAttributes, decodeText, parseJson } from './attributes.js'
import { type CsvColumns, readHead } from './csv-header.js'
import { ID_RULE, NEWLINE, RowReader, trimEnd, trimStart } from './rows.js'

const QUOTE = 0x22
const COMMA = 0x2c
const SEMICOLON = 0x3b
const TAB = 0x09
/** No byte has this value. */
const UNDECIDED = -1

/** States of the search for the end of a row. A quote is special only at the start of a cell. */
const CELL_START = 0
const PLAIN = 1
const QUOTED = 2
/** After a quote inside quotes: either the first of a doubled quote, or the end of the cell. */
const QUOTE_SEEN = 3

interface Cell {
  start: number
  end: number
  isQuoted: boolean
}

/** RFC 4180, with `,` `;` or tab as separator: the one that the first row uses first. */
export class CsvReader extends RowReader {
  private state = CELL_START
  private separator = UNDECIDED
  private columns: CsvColumns | undefined
  private lastColumn = 0
  /** Cells of the first row. What a row has beyond them is not imported. */
  private width = 0
  /** Separators of the current row, outside of quotes. */
  private separators = 0
  private rowHasEnded = true
  /** Reused for every row, so that a row allocates nothing. */
  private readonly cells: Cell[] = []
  private cellCount = 0

  protected findEnd(chunk: Uint8Array, from: number): number {
    let i = from
    if (this.rowHasEnded) this.separators = 0
    this.rowHasEnded = false
    while (i < chunk.length) {
      const byte = chunk[i]!
      switch (this.state) {
        case QUOTED:
          if (byte === QUOTE) this.state = QUOTE_SEEN
          else if (byte === NEWLINE) this.line++
          break
        case QUOTE_SEEN:
          if (byte === QUOTE) {
            this.state = QUOTED
            break
          }
          this.state = PLAIN
          continue
        case CELL_START:
          this.state = byte === QUOTE ? QUOTED : PLAIN
          if (byte !== QUOTE) continue
          break
        default:
          i = this.skipPlain(chunk, i)
          if (i >= chunk.length) return -1
          this.state = CELL_START
          if (chunk[i] === NEWLINE) {
            this.rowHasEnded = true
            return i
          }
          this.separators++
      }
      i++
    }
    return -1
  }

  /** The next byte that ends a cell outside quotes. */
  private skipPlain(chunk: Uint8Array, from: number): number {
    const separator = this.separator
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i]!
      if (byte === NEWLINE || byte === separator) return i
      if (separator === UNDECIDED && (byte === COMMA || byte === SEMICOLON || byte === TAB)) {
        this.separator = byte
        return i
      }
    }
    return chunk.length
  }

  protected unfinished(): string | undefined {
    return this.state === QUOTED ? 'row has a quote that is never closed' : undefined
  }

  protected row(bytes: Uint8Array, start: number, end: number): string | undefined {
    if (trimStart(bytes, start, end) === end) {
      // A blank line before the first row must not select tab as the separator.
      if (this.columns === undefined) this.separator = UNDECIDED
      return undefined
    }
    if (this.columns === undefined && this.takeHeader(bytes, start, end)) return undefined
    if (!this.split(bytes, start, end, this.lastColumn)) return 'row has text behind a closing quote'
    const problem = this.takeRow(bytes)
    if (problem === undefined && this.hasExtraCells(bytes, start, end)) this.sink.noteExtraCells()
    return problem
  }

  /** Whether cells behind those of the first row have a text, which nobody imports: a separator inside a value, perhaps. */
  private hasExtraCells(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.separators < this.width) return false
    if (!this.split(bytes, start, end, Number.POSITIVE_INFINITY)) return true
    const extra = this.cells.slice(this.width, this.cellCount)
    return extra.some((cell) => trimStart(bytes, cell.start, cell.end) < cell.end)
  }

  private takeHeader(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.separator === UNDECIDED) this.separator = COMMA
    this.split(bytes, start, end, Number.POSITIVE_INFINITY)
    const names = this.cells.slice(0, this.cellCount).map((cell) => cellText(bytes, cell) ?? '')
    const { columns, isHeader } = readHead(names, this.options.column)
    this.columns = columns
    this.width = this.cellCount
    const { customerId, addedBy, metadata, expiresAt } = this.columns
    this.lastColumn = Math.max(customerId, addedBy, metadata, expiresAt)
    return isHeader
  }

  private takeRow(bytes: Uint8Array): string | undefined {
    const columns = this.columns!
    const id = this.cell(columns.customerId)
    if (id === undefined) return 'customerId is missing'
    const start = trimStart(bytes, id.start, id.end)
    const end = trimEnd(bytes, start, id.end)
    const addedBy = this.cell(columns.addedBy)
    const metadata = this.cell(columns.metadata)
    const expiresAt = this.cell(columns.expiresAt)
    if (addedBy === undefined && metadata === undefined && expiresAt === undefined) {
      return this.sink.add(bytes, start, end) ? undefined : ID_RULE
    }
    const input: Record<string, unknown> = {}
    // Text that is not UTF-8 becomes null, which every field refuses.
    if (addedBy !== undefined) input.addedBy = cellText(bytes, addedBy) ?? null
    if (expiresAt !== undefined) input.expiresAt = cellText(bytes, expiresAt) ?? null
    if (metadata !== undefined) {
      const json = parseJson(cellText(bytes, metadata) ?? '', 'metadata')
      if (json?.wrong !== undefined) return json.wrong
      input.metadata = json?.value ?? null
    }
    return addWithAttributes(this.sink, this.options, { bytes, start, end }, input)
  }

  /** A cell of the current row, unless it is missing or empty. */
  private cell(column: number): Cell | undefined {
    if (column < 0 || column >= this.cellCount) return undefined
    const cell = this.cells[column]!
    return cell.start < cell.end ? cell : undefined
  }

  /** Finds the cells of a row up to the last one needed. False: the row is malformed. */
  private split(bytes: Uint8Array, start: number, end: number, lastColumn: number): boolean {
    const rowEnd = end > start && bytes[end - 1] === 0x0d ? end - 1 : end
    this.cellCount = 0
    for (let at = start; at <= rowEnd && this.cellCount <= lastColumn; at++) {
      const cell = this.nextCell()
      cell.isQuoted = at < rowEnd && bytes[at] === QUOTE
      if (cell.isQuoted) {
        cell.start = at + 1
        cell.end = closingQuote(bytes, at + 1, rowEnd)
        at = cell.end + 1
        if (at < rowEnd && bytes[at] !== this.separator) return false
        continue
      }
      cell.start = at
      while (at < rowEnd && bytes[at] !== this.separator) at++
      cell.end = at
    }
    return true
  }

  private nextCell(): Cell {
    const reused = this.cells[this.cellCount++]
    if (reused !== undefined) return reused
    const cell: Cell = { start: 0, end: 0, isQuoted: false }
    this.cells.push(cell)
    return cell
  }
}

/** The next quote that is not doubled. */
function closingQuote(bytes: Uint8Array, from: number, rowEnd: number): number {
  let at = from
  while (at < rowEnd) {
    if (bytes[at] !== QUOTE) at++
    else if (bytes[at + 1] === QUOTE && at + 1 < rowEnd) at += 2
    else return at
  }
  return rowEnd
}

/** The text of a cell. A quoted cell keeps its space; other cells are trimmed. */
function cellText(bytes: Uint8Array, cell: Cell): string | undefined {
  const text = decodeText(bytes, cell.start, cell.end)
  return cell.isQuoted ? text?.replaceAll('""', '"') : text?.trim()
}
