import { allowlistMetrics } from './allowlists.js'
import { engineMetrics } from './engines.js'
import type { MetricGroup } from './group.js'
import { httpMetrics } from './http.js'
import { membershipMetrics } from './membership.js'
import { storeMetrics } from './stores.js'

/** Every metric there is. A new group has its line here: it is then served, documented and tested. */
export const METRIC_GROUPS: readonly MetricGroup[] = [
  httpMetrics,
  allowlistMetrics,
  membershipMetrics,
  engineMetrics,
  storeMetrics,
]
