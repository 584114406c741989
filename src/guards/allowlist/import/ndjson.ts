import { addWithAttributes, decodeText, parseJson } from './attributes.js'
import { ID_RULE } from './rows.js'
import { LineReader } from './text.js'

const QUOTE = 0x22
const CLOSE_BRACE = 0x7d
const PLAIN_OBJECT = Buffer.from('{"customerId":"')

/** One JSON value per line: the id as a string, or an object with `customerId` and optional attributes. */
export class NdjsonReader extends LineReader {
  protected content(bytes: Uint8Array, start: number, end: number): string | undefined {
    if (this.addPlain(bytes, start, end)) return undefined
    const text = decodeText(bytes, start, end)
    if (text === undefined) return 'row is not valid UTF-8'
    const json = parseJson(text)
    if (json === undefined) return 'row is not valid JSON'
    if (typeof json.value === 'string') return this.addObject({ customerId: json.value })
    if (typeof json.value !== 'object' || json.value === null || Array.isArray(json.value)) {
      return 'row must be a JSON string, or an object with customerId'
    }
    if (json.wrong !== undefined) return json.wrong
    return this.addObject(json.value as Record<string, unknown>)
  }

  /**
   * Parses the two forms that contain only an id, without creating a string. An identifier contains neither quote
   * nor backslash, so a valid identifier between the quotes is the whole JSON string.
   */
  private addPlain(bytes: Uint8Array, start: number, end: number): boolean {
    if (bytes[start] === QUOTE) return bytes[end - 1] === QUOTE && this.sink.add(bytes, start + 1, end - 1)
    const from = start + PLAIN_OBJECT.length
    if (end - 2 < from || bytes[end - 1] !== CLOSE_BRACE || bytes[end - 2] !== QUOTE) return false
    for (let i = 0; i < PLAIN_OBJECT.length; i++) if (bytes[start + i] !== PLAIN_OBJECT[i]) return false
    return this.sink.add(bytes, from, end - 2)
  }

  private addObject(value: Record<string, unknown>): string | undefined {
    // Exports write `addedAt`, but imports must not set it. The rest spread keeps a `__proto__` as its own key.
    const { customerId, addedAt: _ignored, ...input } = value
    if (typeof customerId !== 'string') return 'customerId must be a string'
    // Longer texts cannot be identifiers, and non-ASCII characters in UTF-8 contain bytes that no identifier has.
    if (customerId.length > 256) return ID_RULE
    const id = Buffer.from(customerId)
    return addWithAttributes(this.sink, this.options, { bytes: id, start: 0, end: id.length }, input)
  }
}
