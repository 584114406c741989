import { CatracaError, type FieldError } from '../../core/errors.js'
import type { MemberAttributes } from './port.js'
import type { JsonObject } from './types.js'

const MAX_METADATA_BYTES = 4096
const MAX_METADATA_DEPTH = 8

/** 1 to 256 code points, without control characters, lone surrogates, line separators and bidirectional marks. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]{1,256}$/u
const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/
const LAST_MOMENT_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const DATE_TIME_RULE = 'must be an ISO 8601 date and time with a zone, such as 2030-01-31T12:00:00Z'

/** Validates the attributes of a new member. Throws INVALID_INPUT with all errors. */
export function parseMemberInput(path: string, input: unknown): MemberAttributes {
  const errors: FieldError[] = []
  const attributes = readMemberInput(path, input, errors)
  if (errors.length === 0) return attributes
  const message = errors.map((error) => `${error.path} ${error.message}`.trimStart()).join('; ')
  throw new CatracaError('INVALID_INPUT', message, { errors })
}

/** Like `parseMemberInput`, for callers with millions of rows: collects errors instead of throwing. */
export function readMemberInput(path: string, input: unknown, errors: FieldError[]): MemberAttributes {
  const attributes: MemberAttributes = {}
  if (input === undefined) return attributes
  if (!isPlainObject(input)) {
    errors.push({ path, message: 'must be an object' })
    return attributes
  }
  for (const name of Object.keys(input)) {
    const value = input[name]
    if (value === undefined) continue
    const fieldPath = path === '' ? name : `${path}.${name}`
    const wrong = readField(attributes, name, value)
    // The name comes from the caller, so only a short part of it is repeated.
    if (wrong !== undefined)
      errors.push({ path: KNOWN.has(name) ? fieldPath : brief(fieldPath), message: wrong })
  }
  return attributes
}

const KNOWN = new Set(['addedBy', 'metadata', 'expiresAt'])

/** Reads one field. Returns the error, if any. */
function readField(attributes: MemberAttributes, name: string, value: unknown): string | undefined {
  switch (name) {
    case 'addedBy': {
      if (typeof value !== 'string' || !PRINTABLE.test(value)) return 'must be 1 to 256 printable characters'
      attributes.addedBy = value
      return undefined
    }
    case 'expiresAt': {
      const moment = typeof value === 'string' ? parseDateTime(value) : undefined
      if (moment === undefined) return DATE_TIME_RULE
      attributes.expiresAt = moment
      return undefined
    }
    case 'metadata': {
      const metadata = cleanMetadata(value)
      if (typeof metadata === 'string') return metadata
      attributes.metadata = metadata
      return undefined
    }
    default:
      return 'is not a known field'
  }
}

/** Epoch milliseconds, or undefined. Dates that do not exist (30 February) are refused, not rolled over. */
function parseDateTime(text: string): number | undefined {
  const match = DATE_TIME.exec(text)
  if (match === null) return undefined
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second = '0',
    fraction = '',
    sign,
    zoneHour = '0',
    zoneMinute = '0',
  ] = match
  const millis = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const local = Date.UTC(+year!, +month! - 1, +day!, +hour!, +minute!, +second, millis)
  const back = new Date(local)
  const exists =
    back.getUTCFullYear() === +year! &&
    back.getUTCMonth() === +month! - 1 &&
    back.getUTCDate() === +day! &&
    back.getUTCHours() === +hour! &&
    back.getUTCMinutes() === +minute! &&
    back.getUTCSeconds() === +second
  if (!exists) return undefined
  const zoneMs = (+zoneHour * 60 + +zoneMinute) * 60_000
  const moment = sign === '-' ? local + zoneMs : local - zoneMs
  return moment >= 0 && moment <= LAST_MOMENT_MS ? moment : undefined
}

/** A pure JSON copy, or the error. */
function cleanMetadata(value: unknown): JsonObject | string {
  if (!isPlainObject(value)) return 'must be a JSON object'
  const walk: Walk = { nodes: 0, wrong: undefined }
  const copy = cleanObject(value, 1, walk)
  if (walk.wrong !== undefined) return walk.wrong
  return Buffer.byteLength(JSON.stringify(copy)) <= MAX_METADATA_BYTES ? copy : TOO_LARGE
}

const TOO_LARGE = `must be at most ${MAX_METADATA_BYTES} bytes as JSON`

interface Walk {
  /** Each value needs at least two bytes of JSON, so counting values stops a huge input early. */
  nodes: number
  wrong: string | undefined
}

function clean(value: unknown, depth: number, walk: Walk): unknown {
  if (walk.wrong !== undefined) return null
  if (++walk.nodes > MAX_METADATA_BYTES) return fail(walk, TOO_LARGE)
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.length <= MAX_METADATA_BYTES ? value : fail(walk, TOO_LARGE)
  // JSON has no -0: the value read back must equal the one validated.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : fail(walk, NOT_JSON)
  if (depth > MAX_METADATA_DEPTH) return fail(walk, `must be nested at most ${MAX_METADATA_DEPTH} deep`)
  if (Array.isArray(value)) return cleanArray(value, depth, walk)
  return isPlainObject(value) ? cleanObject(value, depth, walk) : fail(walk, NOT_JSON)
}

const NOT_JSON = 'must hold only what JSON can say'

function cleanArray(value: unknown[], depth: number, walk: Walk): unknown[] {
  if (value.length > MAX_METADATA_BYTES) return fail(walk, TOO_LARGE) ?? []
  return Array.from(value, (item) => clean(item, depth + 1, walk))
}

function cleanObject(value: JsonObject, depth: number, walk: Walk): JsonObject {
  const copy: JsonObject = {}
  for (const name of Object.keys(value)) {
    if (walk.wrong !== undefined) break
    // Assigning it would set the prototype of the object that it is copied to next.
    if (name === '__proto__') fail(walk, 'must not hold a key named __proto__')
    else if (value[name] !== undefined) copy[name] = clean(value[name], depth + 1, walk)
  }
  return copy
}

function fail(walk: Walk, message: string): null {
  walk.wrong ??= message
  return null
}

function isPlainObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** At most 40 characters of a caller's text, safe to print. */
function brief(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]/g, '?')
  return printable.length <= 40 ? printable : `${printable.slice(0, 39)}…`
}
