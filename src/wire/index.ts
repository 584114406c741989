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
  SAMPLES,
} from './allowlist/members.js'
import { AUDIT } from './audit.js'
import { CACHE } from './cache.js'
import { Problem } from './common.js'
import { FLAGS, Flag, FlagFailure } from './flags.js'
import { IDEMPOTENCY } from './idempotency.js'
import { LOCKS } from './lock.js'
import { CODES } from './one-time-code.js'
import { CONFIGS } from './rate-limit/configs.js'
import { LIMITS } from './rate-limit/limits.js'
import { DENIALS, FLEET, FleetView, HEALTH, LOG_LEVEL, METRICS } from './server.js'
import { SIGN_IN } from './sign-in.js'
import { TOKENS } from './token-denylist.js'

/** Every operation of the HTTP API, by its id. */
export const WIRE = {
  ...HEALTH,
  ...LOG_LEVEL,
  ...METRICS,
  ...FLEET,
  ...DENIALS,
  ...SESSION,
  ...SIGN_IN,
  ...CHECKS,
  ...LISTS,
  ...MEMBERS,
  ...IMPORTS,
  ...IMPORT_STATUS,
  ...SAMPLES,
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
  ...FLAGS,
}

/** Resources that the OpenAPI document and the client name. */
export const RESOURCES = {
  Allowlist,
  Member,
  CheckAnswer,
  ImportResult,
  ImportStatus,
  Flag,
  FlagFailure,
  FleetView,
  Problem,
}
