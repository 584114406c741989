/** Without one of these, a path has one reading. */
const AMBIGUOUS = /[%\\;#]|\/[./]/
/** A path may be decoded by the gateway, by another proxy and by the service. */
const MAX_DECODINGS = 3

/**
 * What servers behind the gateway may make of a path: escapes decoded once or more, `\\` for `/`, parameters behind `;`
 * left out, dots resolved, empty segments dropped.
 */
export function readingsOf(path: string): readonly string[] {
  if (!AMBIGUOUS.test(path)) return []
  const readings = [resolved(path)]
  let text = path
  for (let i = 0; i < MAX_DECODINGS; i++) {
    const decoded = decode(text)
    if (decoded === text) break
    text = decoded
    readings.push(text, resolved(text))
  }
  return readings
}

function decode(text: string): string {
  if (!text.includes('%')) return text
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}

function resolved(path: string): string {
  const kept: string[] = []
  const segments = path.replace(/#.*$/s, '').replaceAll('\\', '/').split('/')
  for (const segment of segments) {
    const name = segment.replace(/;.*$/s, '')
    if (name === '..') kept.pop()
    else if (name !== '' && name !== '.') kept.push(name)
  }
  const isFolder = /^\.{0,2}(;.*)?$/s.test(segments.at(-1)!)
  return `/${kept.join('/')}${isFolder && kept.length > 0 ? '/' : ''}`
}
