import { lockConformanceOn } from '../../support/dynamodb-lock-conformance.js'
import { startDynamo } from '../../support/dynamodb-server.js'

await lockConformanceOn(await startDynamo('dynoxide'))
