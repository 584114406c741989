import { startSentinel } from '../support/redis/index.js'
import { cacheConformanceOn } from '../support/redis-cache-conformance.js'

cacheConformanceOn('redis behind Sentinels', startSentinel)
