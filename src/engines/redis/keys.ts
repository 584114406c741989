/** How the keys of each guard begin. The README of this engine describes all keys. */
export const PREFIX = {
  /** Of one list. */
  list: 'allowlist',
  /** Of all lists together. */
  lists: 'allowlists',
  /** The lists of a customer, in version 0.1.0. */
  customer: 'customer-allowlists',
  limits: 'ratelimit',
  idempotency: 'bridge:idempotency',
  cache: 'cache',
  locks: 'lock',
  codes: 'otp',
  tokens: 'jwt:blacklist',
  audit: 'audit',
  /** The store itself, and its API keys. */
  store: 'catraca',
} as const

/** `:` separates the parts of a key. No identifier contains `%`, so no part can forge another. */
export const encoded = (part: string): string => (part.includes(':') ? part.replaceAll(':', '%3A') : part)
