import { startSentinel } from '../../support/redis/index.js'
import { guardConformanceOn } from '../../support/redis-conformance.js'

guardConformanceOn('redis behind Sentinels', startSentinel)
