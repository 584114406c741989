import { isoTime } from '../clock.js'
import type { MemberRecord } from './port.js'
import type { ExportFormat } from './types.js'

const CHUNK_CHARACTERS = 64 * 1024
const CSV_HEADER = 'customerId,addedAt,addedBy,expiresAt,metadata\n'
/** Besides what would end the cell: space around it, which a reader may trim. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/

/** Members as a file that an import reads back, in pieces of about 64 KiB. */
export async function* exportMembers(
  format: ExportFormat,
  pages: AsyncIterable<MemberRecord[]>,
): AsyncGenerator<Uint8Array> {
  const write = WRITERS[format]
  let text = format === 'csv' ? CSV_HEADER : ''
  for await (const page of pages) {
    for (const member of page) {
      text += write(member)
      if (text.length < CHUNK_CHARACTERS) continue
      yield Buffer.from(text)
      text = ''
    }
  }
  if (text !== '') yield Buffer.from(text)
}

const WRITERS: Record<ExportFormat, (member: MemberRecord) => string> = {
  text: ({ customerId }) => `${customerId}\n`,
  csv: csvRow,
  ndjson: ndjsonRow,
}

function csvRow({ customerId, addedAt, addedBy = '', expiresAt, metadata }: MemberRecord): string {
  const expires = expiresAt === undefined ? '' : isoTime(expiresAt)
  const json = metadata === undefined ? '' : quoted(JSON.stringify(metadata))
  return `${customerId},${isoTime(addedAt)},${quoted(addedBy)},${expires},${json}\n`
}

function quoted(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function ndjsonRow({ customerId, addedAt, addedBy, expiresAt, metadata }: MemberRecord): string {
  // Fields that are undefined are left out by JSON.
  const expires = expiresAt === undefined ? undefined : isoTime(expiresAt)
  return `${JSON.stringify({ customerId, addedAt: isoTime(addedAt), addedBy, expiresAt: expires, metadata })}\n`
}
