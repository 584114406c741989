import { startCluster } from '../support/redis/index.js'
import { limitConformanceOn } from '../support/redis-limit-conformance.js'

limitConformanceOn('redis cluster', startCluster)
