import { startSingle } from '../../support/redis/index.js'
import { conformanceOn } from '../../support/redis-conformance.js'

conformanceOn('redis with 3 shards', startSingle, { initialShards: 3 })
