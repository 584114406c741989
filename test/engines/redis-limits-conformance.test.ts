import { startSingle } from '../support/redis/index.js'
import { limitConformanceOn } from '../support/redis-limit-conformance.js'

limitConformanceOn('redis', startSingle)
