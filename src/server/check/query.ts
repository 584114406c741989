/**
 * The lists of a check: `allowlists=a,b`, also repeated. Duplicates, order and empty names stay; the library refuses
 * wrong ones.
 */
export function splitLists(value: string | readonly string[]): string[] {
  return typeof value === 'string' ? value.split(',') : value.flatMap((part) => part.split(','))
}

export interface PlainCheck {
  customerId: string
  allowlists: string[]
}

const BEFORE_CUSTOMER = '/customers/'
const BEFORE_LISTS = '/check?allowlists='

/** Characters of identifiers that a URL does not encode, and the comma between lists. A plus may mean a space. */
const PLAIN = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~:@=-,') {
  PLAIN[character.charCodeAt(0)] = 1
}

function isPlain(url: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (PLAIN[url.charCodeAt(i)] !== 1) return false
  return end > start
}

/**
 * Parses the URL of a plain check: only `allowlists`, and no percent-encoding. Returns undefined for any other URL;
 * the framework then decodes or refuses it.
 */
export function parsePlainCheck(url: string): PlainCheck | undefined {
  if (!url.startsWith(BEFORE_CUSTOMER)) return undefined
  const start = BEFORE_CUSTOMER.length
  const end = url.indexOf(BEFORE_LISTS, start)
  const lists = end + BEFORE_LISTS.length
  if (end < 0 || !isPlain(url, start, end) || !isPlain(url, lists, url.length)) return undefined
  return { customerId: url.slice(start, end), allowlists: url.slice(lists).split(',') }
}
