import { startCluster } from '../../support/redis/index.js'
import { guardConformanceOn } from '../../support/redis-conformance.js'

guardConformanceOn('redis cluster', startCluster)
