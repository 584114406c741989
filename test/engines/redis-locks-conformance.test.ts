import { startSingle } from '../support/redis/index.js'
import { lockConformanceOn } from '../support/redis-lock-conformance.js'

lockConformanceOn('redis', startSingle)
