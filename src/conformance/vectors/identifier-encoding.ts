export interface IdentifierVector {
  text: string
  /** Result of `encodeIdentifier`. */
  identifier: string
  /** Result of `encodeName`, if it differs. */
  name?: string
}

/** Every program that shares identifiers must encode these texts like this. */
export const IDENTIFIER_VECTORS: readonly IdentifierVector[] = [
  { text: 'ann', identifier: 'ann' },
  { text: 'ann@example.com', identifier: 'ann@example.com' },
  { text: 'a.b_c+d=e-f', identifier: 'a.b_c+d=e-f' },
  { text: 'auth0|123', identifier: 'auth0~7c123' },
  { text: 'q83v/+7=', identifier: 'q83v~2f+7=' },
  { text: 'tenant:7', identifier: 'tenant:7', name: 'tenant~3a7' },
  { text: '~', identifier: '~7e' },
  { text: 'a~7cb', identifier: 'a~7e7cb' },
  { text: '.', identifier: '~2e' },
  { text: '..', identifier: '~2e~2e' },
  { text: '...', identifier: '...' },
  { text: 'two words', identifier: 'two~20words' },
  { text: 'a%b#c', identifier: 'a~25b~23c' },
  { text: '\u0000\n', identifier: '~00~0a' },
  { text: 'jos\u00e9', identifier: 'jos~c3~a9' },
  // Unicode forms are not normalised: callers that need it normalise before.
  { text: 'jose\u0301', identifier: 'jose~cc~81' },
  { text: '\u{1f600}', identifier: '~f0~9f~98~80' },
]
