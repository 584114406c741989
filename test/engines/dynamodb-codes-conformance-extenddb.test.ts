import { codeConformanceOnDynamodb } from '../support/code-conformance.js'

await codeConformanceOnDynamodb('extenddb')
