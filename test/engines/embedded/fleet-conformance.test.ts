import { after, describe, it } from 'node:test'
import { fleetSuites, register } from '../../../src/conformance/index.js'
import { embeddedPairs } from '../../support/embedded-pair.js'

const openPair = embeddedPairs()

for (const suite of fleetSuites)
  register({ describe, it, after }, 'embedded', suite, () => openPair((engine) => engine.fleet!))
