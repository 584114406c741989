import { encoded, PREFIX } from '../keys.js'

/**
 * Names of all keys of the token denylist in Redis. `:` in an id is encoded, so that no token id can be taken for the
 * key of a subject.
 */

/** As in the source design, but one key per token. The value is when the token expires, in ms. */
export const tokenKey = (jti: string): string => `${PREFIX.tokens}:${encoded(jti)}`
/** The value is the time before which tokens are revoked, in ms. */
export const subjectKey = (subject: string): string => `${PREFIX.tokens}:subject:${encoded(subject)}`

/** These keys share a slot, and one script changes them together. They are authoritative; the keys above are copies. */
export const TOKENS_KEY = `{${PREFIX.tokens}}:tokens`
export const SUBJECTS_KEY = `{${PREFIX.tokens}}:subjects`
export const MARKS_KEY = `{${PREFIX.tokens}}:marks`
export const UNCOPIED_KEY = `{${PREFIX.tokens}}:uncopied`
export const LOG_KEY = `{${PREFIX.tokens}}:log`
export const LOG_STATE_KEY = `{${PREFIX.tokens}}:state`

/** Channels are shared by all databases, so the name contains the database. */
export const tokenChannel = (database: number): string => `${PREFIX.tokens}:changes:${database}`
