import { after, describe, it } from 'node:test'
import { cacheSuites, register } from '../../../src/conformance/index.js'
import { embeddedPairs } from '../../support/embedded-pair.js'

const openPair = embeddedPairs()

for (const suite of cacheSuites) {
  register({ describe, it, after }, 'embedded', suite, () => openPair((engine) => engine.cache))
}
