import { isoTime } from '../../core/clock.js'
import type { MemberRecord } from './port.js'
import type { ExportFormat } from './types.js'

/** `spreadsheet`: CSV that no program but a spreadsheet is to read. */
type Form = ExportFormat | 'spreadsheet'

const CHUNK_CHARACTERS = 64 * 1024
const CSV_HEADER = 'customerId,addedAt,addedBy,expiresAt,metadata\n'
/** Besides what would end the cell: space around it, which a reader may trim. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/

/** Members as a file that an import reads back, in pieces of about 64 KiB. */
export async function* exportMembers(
  form: Form,
  pages: AsyncIterable<MemberRecord[]>,
): AsyncGenerator<Uint8Array> {
  const write = WRITERS[form]
  let text = form === 'csv' || form === 'spreadsheet' ? CSV_HEADER : ''
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

const WRITERS: Record<Form, (member: MemberRecord) => string> = {
  text: ({ customerId }) => `${customerId}\n`,
  csv: (member) => csvRow(member, quoted),
  spreadsheet: (member) => csvRow(member, (text) => quoted(asText(text))),
  ndjson: ndjsonRow,
}

function csvRow(member: MemberRecord, cell: (text: string) => string): string {
  const { customerId, addedAt, addedBy = '', expiresAt, metadata } = member
  const expires = expiresAt === undefined ? '' : isoTime(expiresAt)
  const json = metadata === undefined ? '' : cell(JSON.stringify(metadata))
  return `${cell(customerId)},${isoTime(addedAt)},${cell(addedBy)},${expires},${json}\n`
}

/** Spreadsheets run what begins so, also behind space that they trim; an apostrophe makes it text. */
function asText(text: string): string {
  return /^\s*[=+\-@]/.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function ndjsonRow({ customerId, addedAt, addedBy, expiresAt, metadata }: MemberRecord): string {
  // Fields that are undefined are left out by JSON.
  const expires = expiresAt === undefined ? undefined : isoTime(expiresAt)
  return `${JSON.stringify({ customerId, addedAt: isoTime(addedAt), addedBy, expiresAt: expires, metadata })}\n`
}
