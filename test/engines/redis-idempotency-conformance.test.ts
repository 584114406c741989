import { startSingle } from '../support/redis/index.js'
import { idempotencyConformanceOn } from '../support/redis-idempotency-conformance.js'

idempotencyConformanceOn('redis', startSingle)
