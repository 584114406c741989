import { cacheConformanceOn } from '../support/dynamodb-cache.js'

await cacheConformanceOn('dynoxide')
