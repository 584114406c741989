import { ID_RULE, NEWLINE, RowReader, trimEnd, trimStart } from './rows.js'

/** Formats with one row per line. */
export abstract class LineReader extends RowReader {
  protected findEnd(chunk: Uint8Array, from: number): number {
    return chunk.indexOf(NEWLINE, from)
  }

  protected unfinished(): undefined {}

  protected row(bytes: Uint8Array, start: number, end: number): string | undefined {
    const from = trimStart(bytes, start, end)
    const to = trimEnd(bytes, from, end)
    return from < to ? this.content(bytes, from, to) : undefined
  }

  /** A line that is not blank, without surrounding space. */
  protected abstract content(bytes: Uint8Array, start: number, end: number): string | undefined
}

/** One customer id per line. */
export class TextReader extends LineReader {
  protected content(bytes: Uint8Array, start: number, end: number): string | undefined {
    return this.sink.add(bytes, start, end) ? undefined : ID_RULE
  }
}
