import { allowlistMetrics } from './allowlist.js'
import { auditMetrics } from './audit.js'
import { cacheMetrics } from './cache.js'
import { engineMetrics } from './engines.js'
import type { MetricGroup } from './group.js'
import { httpMetrics } from './http.js'
import { idempotencyMetrics } from './idempotency.js'
import { lockMetrics } from './lock.js'
import { membershipMetrics } from './membership.js'
import { codeMetrics } from './one-time-code.js'
import { processMetrics } from './process.js'
import { limitMetrics } from './rate-limit.js'
import { storeMetrics } from './stores.js'
import { tokenMetrics } from './token-denylist.js'

/** All metrics. A group that is listed here is served, documented and tested. */
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
