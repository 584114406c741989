import { codeConformanceOnRedis } from '../support/code-conformance.js'
import { startSentinel } from '../support/redis/index.js'

codeConformanceOnRedis('redis behind Sentinels', startSentinel)
