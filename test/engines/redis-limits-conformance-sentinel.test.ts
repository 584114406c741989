import { startSentinel } from '../support/redis/index.js'
import { limitConformanceOn } from '../support/redis-limit-conformance.js'

limitConformanceOn('redis behind Sentinels', startSentinel)
