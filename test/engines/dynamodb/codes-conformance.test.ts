import { codeConformanceOnDynamodb } from '../../support/code-conformance.js'
import { startDynamo } from '../../support/dynamodb-server.js'

await codeConformanceOnDynamodb(await startDynamo('dynoxide'))
