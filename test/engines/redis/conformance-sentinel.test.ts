import { startSentinel } from '../../support/redis/index.js'
import { conformanceOn } from '../../support/redis-conformance.js'

conformanceOn('redis behind Sentinels', startSentinel)
