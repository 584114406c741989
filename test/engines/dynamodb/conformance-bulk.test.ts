import { conform } from '../../support/dynamodb-conformance.js'
import { startDynamo } from '../../support/dynamodb-server.js'

await conform(await startDynamo('dynoxide'), /bulk|changes/)
