import { after, describe, it } from 'node:test'
import {
  accessSuites,
  allowlistSuites,
  idempotencySuites,
  limitSuites,
  register,
  sessionSuites,
} from '../../../src/conformance/index.js'
import { embeddedPairs } from '../../support/embedded-pair.js'

const openPair = embeddedPairs()
const runner = { describe, it, after }
for (const suite of allowlistSuites)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.allowlists))
for (const suite of accessSuites) register(runner, 'embedded', suite, () => openPair((engine) => engine.keys))
for (const suite of sessionSuites)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.sessions))
for (const suite of limitSuites.counters)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.limits.counters))
for (const suite of limitSuites.configs)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.limits.configs))
for (const suite of limitSuites.usage)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.limits.usage))
for (const suite of limitSuites.outages)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.limits))
for (const suite of idempotencySuites)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.idempotency))
