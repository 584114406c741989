import { isoTime } from '../../core/clock.js'
import { csvCell, spreadsheetCell } from '../../core/csv-cell.js'
import type { MemberRecord } from './port.js'
import type { ExportFormat } from './types.js'

/** `spreadsheet`: CSV meant only for spreadsheets. */
type Form = ExportFormat | 'spreadsheet'

const CHUNK_CHARACTERS = 64 * 1024
const CSV_HEADER = 'customerId,addedAt,addedBy,expiresAt,metadata\n'

/** Members as a file that an import can read, in chunks of about 64 KiB. */
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
  csv: (member) => csvRow(member, csvCell),
  spreadsheet: (member) => csvRow(member, spreadsheetCell),
  ndjson: ndjsonRow,
}

function csvRow(member: MemberRecord, cell: (text: string) => string): string {
  const { customerId, addedAt, addedBy = '', expiresAt, metadata } = member
  const expires = expiresAt === undefined ? '' : isoTime(expiresAt)
  const json = metadata === undefined ? '' : cell(JSON.stringify(metadata))
  return `${cell(customerId)},${isoTime(addedAt)},${cell(addedBy)},${expires},${json}\n`
}

function ndjsonRow({ customerId, addedAt, addedBy, expiresAt, metadata }: MemberRecord): string {
  // JSON leaves out fields that are undefined.
  const expires = expiresAt === undefined ? undefined : isoTime(expiresAt)
  return `${JSON.stringify({ customerId, addedAt: isoTime(addedAt), addedBy, expiresAt: expires, metadata })}\n`
}
