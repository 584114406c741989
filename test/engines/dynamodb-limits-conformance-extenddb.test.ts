import { limitConformanceOn } from '../support/dynamodb-limits.js'

await limitConformanceOn('extenddb')
