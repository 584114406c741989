import { codeConformanceOnRedis } from '../support/code-conformance.js'
import { startSingle } from '../support/redis/index.js'

codeConformanceOnRedis('redis', startSingle)
