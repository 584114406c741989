import { lockConformanceOn } from '../support/dynamodb-lock-conformance.js'

await lockConformanceOn('dynoxide')
