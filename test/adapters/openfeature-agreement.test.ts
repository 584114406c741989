import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OpenFeature } from '@openfeature/server-sdk'
import fc from 'fast-check'
import { CatracaProvider } from '../../src/adapters/openfeature.js'
import { ManualClock } from '../../src/core/clock.js'
import { serve } from '../server/support.js'
import { CUSTOMERS, fill, NOW, waveConfigs, waves } from '../support/any-waves.js'

/** The runs share a store, so that indexes and overlays are in play. */
const RUNS = 12

/** Has every reason, whatever the random runs have. The first wave is paused, and each second one rests on another. */
const EVERY_REASON = [
  { strategy: 'EXPLICIT_LIST' } as const,
  { strategy: 'EXPLICIT_LIST' } as const,
  { strategy: 'PERCENTAGE', percentage: 0.5 } as const,
  { strategy: 'EXPLICIT_LIST' } as const,
  { strategy: 'TIME_WINDOW', startTime: NOW + 1 } as const,
]

describe('any list and wave', () => {
  it('is the same by OFREP, by the provider, by check and by explain', async (t) => {
    const clock = new ManualClock(NOW)
    const server = await serve(t, {}, { store: 'memory:', clock, sweepIntervalMs: 0 })
    const { allowlists } = server.catraca
    await fill(allowlists)
    await fill(allowlists, 'trusted')
    await allowlists.create({ id: 'unindexed', name: 'u', type: 'FIXA' })
    await allowlists.add('unindexed', 'eve')
    await OpenFeature.setProviderAndWait('any', new CatracaProvider(server.catraca))
    t.after(() => OpenFeature.close())
    const client = OpenFeature.getClient('any')

    const agree = async (customer: string, key: string) => {
      const { results } = await allowlists.check(customer, [key])
      const { allowed, reason } = results[0]!
      const explained = await allowlists.explain(customer, [key])
      const near = await client.getBooleanDetails(key, !allowed, { targetingKey: customer })
      const { json } = await server.call('POST', `/ofrep/v1/evaluate/flags/${key}`, {
        body: { context: { targetingKey: customer } },
      })
      const of = `${customer} ${key}`
      assert.deepEqual(
        [explained.results[0]!.allowed, explained.results[0]!.reason],
        [allowed, reason],
        `explain ${of}`,
      )
      assert.deepEqual([near.value, near.flagMetadata.checkReason], [allowed, reason], `provider ${of}`)
      assert.deepEqual([json.value, json.metadata.checkReason], [allowed, reason], `OFREP ${of}`)
      const { value, variant, reason: why, flagMetadata } = near
      const withoutToken = { ...flagMetadata, catracaAtLeast: undefined }
      json.metadata.catracaAtLeast = undefined
      assert.deepEqual(json, { key, value, variant, reason: why, metadata: withoutToken })
      return `${why} ${reason}`
    }
    const seen = new Set<string>()
    let run = 0
    const property = fc.asyncProperty(
      fc.array(waveConfigs, { minLength: 2, maxLength: 4 }),
      fc.nat(6500),
      async (configs, laterMs) => {
        const ids = await waves(allowlists, `w${run++}-`, configs)
        if (ids.length > 0 && run % 3 === 0) await allowlists.pause(ids[0]!)
        clock.set(NOW + laterMs)
        for (const customer of CUSTOMERS)
          for (const key of ['exact', 'trusted', 'unindexed', ...ids]) seen.add(await agree(customer, key))
      },
    )
    await fc.assert(property, { numRuns: RUNS, examples: [[EVERY_REASON, 0]] })
    const reasons = [...seen].map((one) => one.split(' ')[0])
    for (const reason of ['TARGETING_MATCH', 'SPLIT', 'STATIC'])
      assert.ok(reasons.includes(reason), `${reason} was among them`)
  })
})
