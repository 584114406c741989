import { closed, listing, olderThanSeconds, pageOf } from './common.js'
import { operations } from './operation.js'
import { Type } from './typebox.js'

const token = Type.String({ description: 'Token that the acquire returned; a secret' })
const ttlMs = Type.Optional(
  Type.Integer({
    description: 'The lock expires after this time unless it is extended; 30000 when absent',
  }),
)
const expiresAt = Type.String({
  format: 'date-time',
  description: 'When the lock expires unless it is extended',
})
const fence = Type.Optional(
  Type.Integer({ description: 'Fencing number: grows with every holder of the name. Absent with Redlock' }),
)
const params = { name: Type.String({ description: 'What is locked, such as claim:claim_abc123' }) }

const LockRequest = Type.Object(
  {
    ttlMs,
    waitMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30_000,
        description: 'How long to wait while another caller holds the lock; no waiting when absent',
      }),
    ),
  },
  closed,
)
const LockState = Type.Object(
  { name: Type.String(), held: Type.Boolean(), fence, expiresAt: Type.Optional(expiresAt) },
  closed,
)

const HeldLock = Type.Object(
  {
    name: Type.String(),
    fence,
    expiresAt: Type.Optional(expiresAt),
    heldForMs: Type.Optional(
      Type.Integer({
        description: 'Since the lock was acquired, by its fence; extending does not change it',
      }),
    ),
  },
  closed,
)

export const LOCKS = operations('locks', {
  listLocks: {
    route: 'GET /locks',
    summary: 'List the locks that are held; never by whom. Does not block the store',
    scope: 'locks',
    rules: { orAdmin: true },
    query: { ...listing, olderThanSeconds },
    answers: { 200: ['A page, in the order of the store', pageOf(HeldLock)] },
  },
  acquireLock: {
    route: 'POST /locks/:name',
    isHot: true,
    summary: 'Acquire a lock, or wait for it',
    scope: 'locks',
    params,
    body: LockRequest,
    answers: { 201: ['Acquired', Type.Object({ token, fence, expiresAt }, closed)] },
  },
  extendLock: {
    route: 'POST /locks/:name/extend',
    summary: 'Extend a lock',
    scope: 'locks',
    params,
    body: Type.Object({ token, ttlMs }, closed),
    answers: { 200: ['Extended', Type.Object({ expiresAt }, closed)] },
  },
  releaseLock: {
    route: 'POST /locks/:name/release',
    isHot: true,
    summary: 'Release a lock',
    scope: 'locks',
    params,
    body: Type.Object({ token }, closed),
    answers: { 204: 'Free again' },
  },
  getLock: {
    route: 'GET /locks/:name',
    summary: 'Read whether a lock is held, and until when; never by whom',
    scope: 'locks',
    rules: { orAdmin: true },
    params,
    answers: { 200: ['Its state', LockState] },
  },
  forceReleaseLock: {
    route: 'DELETE /locks/:name',
    summary:
      'Release a lock that another caller holds. The holder notices when its fence is refused, or when it extends the lock',
    scope: 'admin',
    params,
    answers: { 204: 'Free' },
  },
})
