import { startSingle } from '../../support/redis/index.js'
import { guardConformanceOn } from '../../support/redis-conformance.js'

guardConformanceOn('redis', startSingle)
