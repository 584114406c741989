import { conform } from '../support/dynamodb-conformance.js'

await conform('extenddb', /lists|members|checks|index|keys/)
