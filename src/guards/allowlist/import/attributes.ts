import type { FieldError } from '../../../core/errors.js'
import { INTEGER_RULE, largeInteger } from '../../../core/large-integers.js'
import { readMemberInput } from '../member-input.js'
import type { MemberAttributes } from '../port.js'
import { ID_RULE, type RowOptions, type RowSink } from './rows.js'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of these bytes, or undefined if they are not UTF-8. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return decoder.decode(bytes.subarray(start, end))
  } catch {
    return undefined
  }
}

/** The parsed value, boxed because `null` is a valid value too, and what is wrong with it. */
export function parseJson(text: string, root?: string): { value: unknown; wrong?: string } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const large = largeInteger(text, value, root)
    return large === undefined ? { value } : { value, wrong: `${large} ${INTEGER_RULE}` }
  } catch {
    return undefined
  }
}

/** Adds a row with attributes. Returns all its errors, if it cannot be added. */
export function addWithAttributes(
  sink: RowSink,
  options: RowOptions,
  id: { bytes: Uint8Array; start: number; end: number },
  input: Record<string, unknown>,
): string | undefined {
  const errors: FieldError[] = []
  const attributes = readMemberInput('', input, errors)
  if (attributes.expiresAt !== undefined && !options.takesExpiry) {
    errors.push({ path: 'expiresAt', message: 'is not taken by an allowlist of trusted precision' })
  }
  if (errors.length > 0) return describe(errors)
  const isTaken = sink.add(id.bytes, id.start, id.end, isEmpty(attributes) ? undefined : attributes)
  return isTaken ? undefined : ID_RULE
}

const MAX_MESSAGE_LENGTH = 300

function describe(errors: FieldError[]): string {
  const text = errors
    .slice(0, 4)
    .map((error) => `${error.path} ${error.message}`)
    .join('; ')
  return text.length <= MAX_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_MESSAGE_LENGTH - 1)}…`
}

function isEmpty(attributes: MemberAttributes): boolean {
  return (
    attributes.addedBy === undefined &&
    attributes.metadata === undefined &&
    attributes.expiresAt === undefined
  )
}
