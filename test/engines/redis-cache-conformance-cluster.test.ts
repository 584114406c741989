import { startCluster } from '../support/redis/index.js'
import { cacheConformanceOn } from '../support/redis-cache-conformance.js'

cacheConformanceOn('redis cluster', startCluster)
