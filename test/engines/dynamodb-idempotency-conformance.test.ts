import { conform } from '../support/dynamodb-conformance.js'

await conform('dynoxide', /^idempotency/)
