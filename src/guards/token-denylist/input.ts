import { invalid } from '../../core/errors.js'
import { type Fields, KnownFields } from '../../core/fields.js'
import { identifier } from '../../core/identifiers.js'
import { type Moment, momentOf } from '../../core/moment.js'
import type { Revocation } from './port.js'
import type { RevokedSubject, RevokedToken, TokenQuestion } from './types.js'

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
