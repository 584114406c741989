import { startCluster } from '../../support/redis/index.js'
import { conformanceOn } from '../../support/redis-conformance.js'

conformanceOn('redis cluster with 3 shards', startCluster, { initialShards: 3 })
