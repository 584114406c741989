/**
 * Names of everything that the token denylist keeps in Redis. `:` in an id is encoded where others stand beside it, so
 * that no token can be taken for the mark of a subject.
 */
const encoded = (id: string): string => id.replaceAll(':', '%3A')

/** As the source has it, but one for each token. Its value is when the token expires, in ms. */
export const tokenKey = (jti: string): string => `jwt:blacklist:${encoded(jti)}`
/** Its value is the time before which tokens are revoked, in ms. */
export const subjectKey = (subject: string): string => `jwt:blacklist:subject:${encoded(subject)}`

/** All of these share a slot, and one script changes them together: they are what holds, the keys above are copies. */
export const TOKENS_KEY = '{jwt:blacklist}:tokens'
export const SUBJECTS_KEY = '{jwt:blacklist}:subjects'
export const MARKS_KEY = '{jwt:blacklist}:marks'
export const UNCOPIED_KEY = '{jwt:blacklist}:uncopied'
export const LOG_KEY = '{jwt:blacklist}:log'
export const LOG_STATE_KEY = '{jwt:blacklist}:state'

/** Channels do not know databases, so the name must. */
export const tokenChannel = (database: number): string => `jwt:blacklist:changes:${database}`
