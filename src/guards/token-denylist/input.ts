import { invalid } from '../../core/errors.js'
import { type Fields, KnownFields } from '../../core/fields.js'
import { identifier } from '../../core/identifiers.js'
import type { Revocation } from './port.js'
import type { Moment, RevokedSubject, RevokedToken, TokenQuestion } from './types.js'

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/
/** Memory stores seconds in 32 bits, which last until 2106. */
const MAX_MS = 0xffff_fffe * 1000

export function momentOf(path: string, value: unknown): number {
  const ms =
    value instanceof Date
      ? value.getTime()
      : typeof value === 'string' && ISO_TIME.test(value)
        ? Date.parse(value)
        : Number.NaN
  if (Number.isNaN(ms) || ms < 0) {
    throw invalid(path, 'must be a time in ISO 8601 with its zone, such as 2030-01-31T12:00:00Z, or a Date')
  }
  return Math.min(ms, MAX_MS)
}

export function tokenRevocation({ jti, expiresAt }: RevokedToken, at = ''): Revocation {
  return {
    kind: 'token',
    id: identifier(`${at}jti`, jti),
    expiresAt: momentOf(`${at}expiresAt`, expiresAt),
  }
}

export function subjectRevocation({ subject, notBefore, expiresAt }: RevokedSubject): Revocation {
  return {
    kind: 'subject',
    id: identifier('subject', subject),
    notBefore: momentOf('notBefore', notBefore),
    expiresAt: momentOf('expiresAt', expiresAt),
  }
}

export function optionalMoment(path: string, value: Moment | undefined): number | undefined {
  return value === undefined ? undefined : momentOf(path, value)
}

/** The fields of a check. */
export const QUESTION_FIELDS: Fields<TokenQuestion> = { jti: true, subject: true, issuedAt: true }
const KNOWN_OF_QUESTION = new KnownFields(QUESTION_FIELDS)

export function checkQuestion(question: TokenQuestion): void {
  if (question === undefined || question === null) throw invalid('arguments[0]', 'must be an object')
  KNOWN_OF_QUESTION.check(question)
}
