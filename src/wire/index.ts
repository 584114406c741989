import { KEYS, SESSION } from './access.js'
import { CHECKS, CheckAnswer } from './allowlist/checks.js'
import { Allowlist, INDEXES, LISTS, SHARDS } from './allowlist/lists.js'
import {
  EXPORTS,
  IMPORT_STATUS,
  IMPORTS,
  ImportResult,
  ImportStatus,
  MEMBERS,
  Member,
} from './allowlist/members.js'
import { AUDIT } from './audit.js'
import { CACHE } from './cache.js'
import { Problem } from './common.js'
import { IDEMPOTENCY } from './idempotency.js'
import { LOCKS } from './lock.js'
import { CODES } from './one-time-code.js'
import { HEALTH, LOG_LEVEL, METRICS } from './operations.js'
import { CONFIGS } from './rate-limit/configs.js'
import { LIMITS } from './rate-limit/limits.js'
import { TOKENS } from './token-denylist.js'

/** Every operation of the HTTP API, by its id. */
export const WIRE = {
  ...HEALTH,
  ...LOG_LEVEL,
  ...METRICS,
  ...SESSION,
  ...CHECKS,
  ...LISTS,
  ...MEMBERS,
  ...IMPORTS,
  ...IMPORT_STATUS,
  ...EXPORTS,
  ...INDEXES,
  ...SHARDS,
  ...KEYS,
  ...LIMITS,
  ...CONFIGS,
  ...IDEMPOTENCY,
  ...CODES,
  ...TOKENS,
  ...LOCKS,
  ...CACHE,
  ...AUDIT,
}

/** Resources that the OpenAPI document and the client name. */
export const RESOURCES = { Allowlist, Member, CheckAnswer, ImportResult, ImportStatus, Problem }
