import { conform } from '../support/dynamodb-conformance.js'

await conform('dynoxide', /lists|members|checks|index|keys/)
