import { Option } from 'commander'
import type { ImportFormat } from '../../../guards/allowlist/types.js'

const FORMATS = ['csv', 'ndjson', 'text']

export const formatOption = (): Option =>
  new Option(
    '--format <format>',
    'format of the rows; taken from the file extension when absent, else csv',
  ).choices(FORMATS)

const ENDINGS: Record<string, ImportFormat> = { csv: 'csv', ndjson: 'ndjson', jsonl: 'ndjson', txt: 'text' }

/** The format by the file extension, also with `.gz` after it. */
export function formatOfFile(file: string): ImportFormat | undefined {
  const ending = /\.([a-z0-9]+)$/.exec(file.toLowerCase().replace(/\.gz$/, ''))?.[1]
  return ending === undefined || !Object.hasOwn(ENDINGS, ending) ? undefined : ENDINGS[ending]
}
