import { allowlistMetrics } from './allowlists.js'
import { auditMetrics } from './audit.js'
import { cacheMetrics } from './cache.js'
import { codeMetrics } from './codes.js'
import { engineMetrics } from './engines.js'
import type { MetricGroup } from './group.js'
import { httpMetrics } from './http.js'
import { idempotencyMetrics } from './idempotency.js'
import { limitMetrics } from './limits.js'
import { lockMetrics } from './locks.js'
import { membershipMetrics } from './membership.js'
import { processMetrics } from './process.js'
import { storeMetrics } from './stores.js'
import { tokenMetrics } from './tokens.js'

/** Every metric there is. A new group has its line here: it is then served, documented and tested. */
export const METRIC_GROUPS: readonly MetricGroup[] = [
  httpMetrics,
  allowlistMetrics,
  membershipMetrics,
  limitMetrics,
  idempotencyMetrics,
  lockMetrics,
  codeMetrics,
  tokenMetrics,
  cacheMetrics,
  auditMetrics,
  engineMetrics,
  storeMetrics,
  processMetrics,
]
