import { text } from './client/attributes.js'

/**
 * Keys of items (see README.md). No identifier contains a `#`, and every part made of one follows a `#`, so that no id
 * can forge another key.
 */
export type Key = Record<'PK' | 'SK', { S: string }>

export const keyOf = (partition: string, sort: string): Key => ({
  PK: text(partition) as { S: string },
  SK: text(sort) as { S: string },
})

/** How the partitions of each kind of item begin. Records of idempotency are in a table of their own. */
export const PARTITION = {
  list: 'ALLOWLIST#',
  lists: 'ALLOWLISTS',
  due: 'DUE_',
  feed: 'FEED',
  following: 'FOLLOWING',
  store: 'CATRACA',
  apiKeys: 'KEYS',
  sessions: 'SESSIONS#',
  limits: 'LIMITS#',
  subject: 'SUBJECT#',
  lease: 'LEASE#',
  system: 'SYSTEM#',
  resource: 'RESOURCE#',
  entity: 'ENTITY#',
  cache: 'CACHE#',
  lock: 'LOCK#',
  code: 'OTP#',
  token: 'REVOKED_TOKEN#',
  tokenSubject: 'REVOKED_SUBJECT#',
  tokenLog: 'REVOKED_LOG',
  audit: 'AUDIT',
  fleet: 'FLEET',
} as const
