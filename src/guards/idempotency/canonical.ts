import { hash } from 'node:crypto'
import { types } from 'node:util'
import { type CatracaError, invalid } from '../../core/errors.js'
import { isPlainObject } from '../../core/plain-object.js'

/** Deeper than any real payload, and shallow enough for the stack. Also stops cycles. */
const MAX_DEPTH = 64
/** An object referenced several times is written each time. Without a bound, a small payload could grow without end. */
const MAX_CHARACTERS = 16 * 1024 * 1024

/** SHA-256 (hex) of the canonical form. Without a payload, of the empty text. */
export function requestHashOf(payload: unknown): string {
  return hash('sha256', payload === undefined ? '' : canonicalForm(payload))
}

/**
 * One text for all spellings of a value. RFC 8785 for JSON values, so the order of keys and the notation of numbers do
 * not matter. Beyond JSON: a Date is its ISO text, a BigInt its digits, and bytes are `b"…"` in base64, which is no
 * JSON text. Undefined members are left out. An object with `toJSON` is replaced by its result. Everything else is
 * refused, also integers from 2^53 on: parsing may have rounded several of them to the same number.
 */
export function canonicalForm(value: unknown): string {
  const writer = new Writer()
  writer.write(value, 0)
  return writer.text
}

class Writer {
  text = ''
  /** Path of the current value, used only in error messages. */
  private readonly path: (string | number)[] = []

  write(value: unknown, depth: number): void {
    if (depth > MAX_DEPTH) throw invalid('payload', `must not be nested deeper than ${MAX_DEPTH} levels`)
    if (value === null || typeof value !== 'object') this.text += this.scalar(value)
    else if (Array.isArray(value)) this.array(value, depth)
    else this.object(value, depth)
    if (this.text.length > MAX_CHARACTERS)
      throw invalid('payload', `must not be longer than ${MAX_CHARACTERS} characters`)
  }

  private array(items: readonly unknown[], depth: number): void {
    this.text += '['
    for (let i = 0; i < items.length; i++) {
      if (i > 0) this.text += ','
      this.path.push(i)
      this.write(items[i], depth + 1)
      this.path.pop()
    }
    this.text += ']'
  }

  private object(value: object, depth: number): void {
    if (types.isDate(value)) this.text += this.date(value)
    else if (types.isUint8Array(value)) this.text += `b"${Buffer.from(value).toString('base64')}"`
    else if (hasToJson(value)) this.write(value.toJSON(), depth + 1)
    else if (isPlainObject(value)) this.members(value as Record<string, unknown>, depth)
    else throw this.wrong(`must be data: ${describe(value)} has no canonical form`)
  }

  private members(value: Record<string, unknown>, depth: number): void {
    this.text += '{'
    let separator = ''
    // Sorted by UTF-16 code units, as RFC 8785 requires. JavaScript sorts that way.
    for (const key of Object.keys(value).sort()) {
      const member = value[key]
      if (member === undefined) continue
      this.text += `${separator}${JSON.stringify(key)}:`
      separator = ','
      this.path.push(key)
      this.write(member, depth + 1)
      this.path.pop()
    }
    this.text += '}'
  }

  private scalar(value: unknown): string {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return JSON.stringify(value)
      case 'number':
        if (Number.isInteger(value) && !Number.isSafeInteger(value))
          throw this.wrong('must be an integer below 2^53: give larger ones as text, or as a BigInt')
        if (!Number.isFinite(value)) throw this.wrong(`must be a finite number, not ${value}`)
        return JSON.stringify(value)
      case 'bigint':
        return String(value)
      default:
        if (value === null) return 'null'
        throw this.wrong(`must be data: ${describe(value)} has no canonical form`)
    }
  }

  private date(value: Date): string {
    if (Number.isNaN(value.getTime())) throw this.wrong('must be a date that exists')
    return JSON.stringify(value)
  }

  private wrong(message: string): CatracaError {
    const steps = this.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    return invalid(`payload${steps.join('')}`, message)
  }
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function'
}

function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value
  return `an object of class ${value.constructor?.name ?? 'unknown'}`
}
