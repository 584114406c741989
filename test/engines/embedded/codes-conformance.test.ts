import { after, describe, it } from 'node:test'
import { auditSuites, codeSuites, register, tokenSuites } from '../../../src/conformance/index.js'
import { embeddedPairs } from '../../support/embedded-pair.js'

const openPair = embeddedPairs()
const runner = { describe, it, after }

for (const suite of codeSuites) register(runner, 'embedded', suite, () => openPair(({ codes }) => codes))
for (const suite of tokenSuites) register(runner, 'embedded', suite, () => openPair(({ tokens }) => tokens))
for (const suite of auditSuites) register(runner, 'embedded', suite, () => openPair(({ audit }) => audit))
