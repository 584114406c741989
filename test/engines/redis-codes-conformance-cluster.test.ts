import { codeConformanceOnRedis } from '../support/code-conformance.js'
import { startCluster } from '../support/redis/index.js'

codeConformanceOnRedis('redis cluster', startCluster)
