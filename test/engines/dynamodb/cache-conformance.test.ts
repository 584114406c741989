import { cacheConformanceOn } from '../../support/dynamodb-cache.js'
import { startDynamo } from '../../support/dynamodb-server.js'

cacheConformanceOn(await startDynamo('dynoxide'))
