import type { ListedEntry, StoredValue } from './port.js'

/** What a listing says of an entry. */
export const listedEntry = (key: string, { value, ...times }: StoredValue): ListedEntry => ({
  key,
  ...times,
  sizeBytes: Buffer.byteLength(value),
})
