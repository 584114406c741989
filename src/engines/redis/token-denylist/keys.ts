/**
 * Names of all keys of the token denylist in Redis. `:` in an id is encoded, so that no token id can be taken for the
 * key of a subject.
 */
const encoded = (id: string): string => id.replaceAll(':', '%3A')

/** As in the source design, but one key per token. The value is when the token expires, in ms. */
export const tokenKey = (jti: string): string => `jwt:blacklist:${encoded(jti)}`
/** The value is the time before which tokens are revoked, in ms. */
export const subjectKey = (subject: string): string => `jwt:blacklist:subject:${encoded(subject)}`

/** These keys share a slot, and one script changes them together. They are authoritative; the keys above are copies. */
export const TOKENS_KEY = '{jwt:blacklist}:tokens'
export const SUBJECTS_KEY = '{jwt:blacklist}:subjects'
export const MARKS_KEY = '{jwt:blacklist}:marks'
export const UNCOPIED_KEY = '{jwt:blacklist}:uncopied'
export const LOG_KEY = '{jwt:blacklist}:log'
export const LOG_STATE_KEY = '{jwt:blacklist}:state'

/** Channels are shared by all databases, so the name contains the database. */
export const tokenChannel = (database: number): string => `jwt:blacklist:changes:${database}`
