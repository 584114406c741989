import { limitConformanceOn } from '../../support/dynamodb-limits.js'
import { startDynamo } from '../../support/dynamodb-server.js'

limitConformanceOn(await startDynamo('dynoxide'))
