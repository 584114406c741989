/**
 * The lists of a check: `allowlists=a,b`, also repeated. Duplicates, order and empty names stay; the library refuses
 * wrong ones.
 */
export function splitLists(value: string | readonly string[]): string[] {
  return typeof value === 'string' ? value.split(',') : value.flatMap((part) => part.split(','))
}

/** Where a call goes. `lists`: those of a check, which is the only direct call with a query. */
export interface Target {
  path: string
  lists: string[] | undefined
}

const BEFORE_LISTS = '?allowlists='

const SLASH = 0x2f
const PERCENT = 0x25
/** Characters of identifiers that a URL does not encode, and the comma between lists. A plus may mean a space. */
const PLAIN = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~:@=-,') {
  PLAIN[character.charCodeAt(0)] = 1
}

/**
 * Parses the target of a request: a path of plain characters, and at most the lists of a check. Returns undefined for any
 * other target; the framework then decodes or refuses it.
 */
export function parseTarget(target: string): Target | undefined {
  const end = target.indexOf(BEFORE_LISTS)
  if (!isPlain(target, 0, end < 0 ? target.length : end, SLASH)) return undefined
  if (end < 0) return { path: target, lists: undefined }
  const start = end + BEFORE_LISTS.length
  if (!isPlain(target, start, target.length, PERCENT)) return undefined
  const lists = decoded(target.slice(start))
  return lists === undefined ? undefined : { path: target.slice(0, end), lists: splitLists(lists) }
}

/** Whether there are only plain characters, and this one. */
function isPlain(text: string, start: number, end: number, also: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (PLAIN[code] !== 1 && code !== also) return false
  }
  return end > start
}

function decoded(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
