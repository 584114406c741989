import { readFileSync } from 'node:fs'
import { CatracaError } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'

export const MAX_CUSTOMERS = 5_000_000
const LINES_PER_CHUNK = 2000

/** The same id for the same number, distributed like random ids. */
export function customerNumber(i: number): string {
  const mixed = ((i * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')
  return `${mixed}-0000-4000-8000-${i.toString(16).padStart(12, '0')}`
}

export function numberedCustomers(count: number): string[] {
  return Array.from({ length: count }, (_, i) => customerNumber(i))
}

/** Reads one id per line. */
export function customersOf(file: string): string[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CatracaError('INVALID_INPUT', `customers: the file cannot be read (${code})`)
  }
  const ids = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (ids.length === 0) throw new CatracaError('INVALID_INPUT', 'customers: the file names nobody')
  if (ids.length > MAX_CUSTOMERS)
    throw new CatracaError('INVALID_INPUT', `customers: the file names more than ${MAX_CUSTOMERS}`)
  return ids.map((id) => identifier('customers', id))
}

/** The body of an import. */
export async function* customerLines(ids: readonly string[]): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < ids.length; from += LINES_PER_CHUNK)
    yield Buffer.from(`${ids.slice(from, from + LINES_PER_CHUNK).join('\n')}\n`)
}
