import { invalid } from './errors.js'

/*
 * Encodes ids of other systems (`auth0|123`, base64, e-mail with a slash) as identifiers, which allow only some
 * characters. Every other UTF-8 byte becomes `~hh`, and so does `~` itself, so no two texts become the same
 * identifier. The encoding must never change, because data is stored under these names.
 * `conformance/vectors/identifier-encoding.ts` has examples.
 */

const MAX_LENGTH = 256
const OTHER_THAN_IDENTIFIER = /[^A-Za-z0-9._:@+=-]/gu
const OTHER_THAN_NAME = /[^A-Za-z0-9._@+=-]/gu
/** A lone surrogate. It has no UTF-8 form, so all of them would be encoded alike. */
const HALF = /\p{Cs}/u

/** For customers, entities, operations, keys, lock names and token ids. */
export function encodeIdentifier(text: string, path = 'identifier'): string {
  return encode(text, path, OTHER_THAN_IDENTIFIER)
}

/** For list ids, resources and limit names, and for parts that are joined by `:`, which becomes `~3a`. */
export function encodeName(text: string, path = 'name'): string {
  return encode(text, path, OTHER_THAN_NAME)
}

/** As `encodeName`, of any length and also empty: for parts of a name that is checked as a whole. */
export function encodePart(text: string): string {
  return replaced(text, OTHER_THAN_NAME)
}

function encode(text: unknown, path: string, others: RegExp): string {
  if (typeof text !== 'string' || text === '') throw invalid(path, 'must be a text that is not empty')
  if (HALF.test(text)) throw invalid(path, 'must be well-formed Unicode')
  const encoded = replaced(text, others)
  if (encoded.length > MAX_LENGTH) {
    throw invalid(path, `must not be longer than ${MAX_LENGTH} characters once it is encoded`)
  }
  return encoded
}

/** `.` and `..` are not identifiers, although their characters are allowed. */
const replaced = (text: string, others: RegExp): string =>
  text === '.' || text === '..' ? text.replaceAll('.', '~2e') : text.replace(others, bytesOf)

const bytesOf = (character: string): string =>
  Array.from(Buffer.from(character), (byte) => `~${byte.toString(16).padStart(2, '0')}`).join('')
