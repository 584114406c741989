import { startSentinel } from '../support/redis/index.js'
import { idempotencyConformanceOn } from '../support/redis-idempotency-conformance.js'

idempotencyConformanceOn('redis behind Sentinels', startSentinel)
