import { conform } from '../support/dynamodb-conformance.js'

await conform('extenddb', /^idempotency/)
