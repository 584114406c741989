import { invalid } from './errors.js'

/*
 * Ids of other systems (`auth0|123`, base64, e-mail with a slash) as identifiers, which hold only some characters. Every
 * byte of UTF-8 that is not one of those becomes `~hh`, and so does `~` itself: no two texts become one identifier. It
 * never changes: what is stored lies under these names. `conformance/vectors/identifier-encoding.ts` has examples.
 */

const MAX_LENGTH = 256
const OTHER_THAN_IDENTIFIER = /[^A-Za-z0-9._:@+=-]/gu
const OTHER_THAN_NAME = /[^A-Za-z0-9._@+=-]/gu
/** Half of a character of two: it has no bytes in UTF-8, and any two would become the same. */
const HALF = /\p{Cs}/u

/** For customers, entities, operations, keys, lock names and token ids. */
export function encodeIdentifier(text: string, path = 'identifier'): string {
  return encode(text, path, OTHER_THAN_IDENTIFIER)
}

/** For list ids, resources and limit names, and for parts that are joined by `:`, which becomes `~3a`. */
export function encodeName(text: string, path = 'name'): string {
  return encode(text, path, OTHER_THAN_NAME)
}

function encode(text: unknown, path: string, others: RegExp): string {
  if (typeof text !== 'string' || text === '') throw invalid(path, 'must be a text that is not empty')
  if (HALF.test(text)) throw invalid(path, 'must be well-formed Unicode')
  // These two are no identifiers, although their characters are.
  const encoded = text === '.' || text === '..' ? text.replaceAll('.', '~2e') : text.replace(others, bytesOf)
  if (encoded.length > MAX_LENGTH) {
    throw invalid(path, `must not be longer than ${MAX_LENGTH} characters once it is encoded`)
  }
  return encoded
}

const bytesOf = (character: string): string =>
  Array.from(Buffer.from(character), (byte) => `~${byte.toString(16).padStart(2, '0')}`).join('')
