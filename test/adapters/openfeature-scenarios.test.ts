import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  type Client,
  ErrorCode,
  OpenFeature,
  ProviderEvents,
  ServerProviderStatus,
  StandardResolutionReasons,
} from '@openfeature/server-sdk'
import { CatracaProvider } from '../../src/adapters/openfeature.js'
import type { Catraca } from '../../src/index.js'
import { until } from '../server/support.js'
import { openPatiently } from '../support/patient.js'
import { type RedisServers, startSingle } from '../support/redis/index.js'

/*
 * The scenarios that the OpenFeature specification has for providers (its provider TCK), as far as they apply to flags that
 * are boolean and belong to a customer. These do not:
 * - flags of text, numbers and objects, large integers, numeric coercion: there are none;
 * - "no evaluation context resolves the default variant": a flag without a customer has no value, so it is
 *   TARGETING_KEY_MISSING;
 * - "a targeting rule that does not match reports DEFAULT": not to be on a list is what the list says of the customer, so
 *   it is TARGETING_MATCH;
 * - "a disabled flag resolves to the code default": a paused wave says no, with the reason DISABLED.
 */
const STORE_TIMES = { redis: { commandTimeoutMs: 500, connectTimeoutMs: 500, staleAfterMs: 500 } } as const

const ana = { targetingKey: 'ana' }

async function fill({ allowlists }: Catraca): Promise<void> {
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await allowlists.add('vip', 'ana')
  const window = { strategy: 'TIME_WINDOW' as const }
  await allowlists.create({ id: 'open', name: 'Open', type: 'ONDA', config: { ...window, startTime: 1000 } })
  await allowlists.create({ id: 'over', name: 'Over', type: 'ONDA', config: { ...window, endTime: 1000 } })
  await allowlists.create({ id: 'paused', name: 'Paused', type: 'ONDA', config: { ...window, startTime: 1 } })
  await allowlists.pause('paused')
}

describe("the specification's scenarios for providers", () => {
  let redis: RedisServers
  let catraca: Catraca
  let client: Client
  const provider = new CatracaProvider(async () => catraca)
  let readied = 0
  before(async () => {
    redis = await startSingle()
    const filling = await openPatiently({ store: redis.storeUrl })
    await fill(filling)
    await filling.close()
    catraca = await openPatiently({ store: redis.storeUrl, ...STORE_TIMES })
    OpenFeature.addHandler(ProviderEvents.Ready, () => void readied++)
    await OpenFeature.setProviderAndWait('scenarios', provider)
    client = OpenFeature.getClient('scenarios')
  })
  after(async () => {
    await OpenFeature.close()
    await redis.stop()
  })

  it('metadata: a provider identifies itself by name', () => {
    assert.equal(client.metadata.providerMetadata.name, 'catraca')
  })

  it('lifecycle: a provider that successfully initializes becomes ready', () => {
    assert.ok(readied > 0)
    assert.equal(client.providerStatus, ServerProviderStatus.READY)
  })

  it('lifecycle: one that cannot reach its backend reports an error, and code defaults are returned', async () => {
    const closed = redis.servers[0]!.address.replace(/:\d+$/, ':1')
    const { openCatraca } = await import('../../src/index.js')
    const away = new CatracaProvider(() => openCatraca({ store: `redis://${closed}/0`, ...STORE_TIMES }))
    const lost = OpenFeature.getClient('away')
    let errors = 0
    lost.addHandler(ProviderEvents.Error, () => void errors++)
    await assert.rejects(OpenFeature.setProviderAndWait('away', away))
    await until('the error is told', () => errors > 0)
    assert.equal(lost.providerStatus, ServerProviderStatus.ERROR)
    const { value, reason } = await lost.getBooleanDetails('vip', true, ana)
    assert.deepEqual([value, reason], [true, StandardResolutionReasons.ERROR])
  })

  it('evaluation: values, falsy ones too, with variant and reason, and no error', async () => {
    const cases = [
      ['open', false, true, 'on', 'STATIC'],
      ['over', true, false, 'off', 'STATIC'],
      ['paused', true, false, 'off', 'DISABLED'],
    ] as const
    for (const [key, byDefault, value, variant, reason] of cases) {
      const got = await client.getBooleanDetails(key, byDefault, ana)
      assert.deepEqual(
        [got.value, got.variant, got.reason, got.errorCode, got.errorMessage],
        [value, variant, reason, undefined, undefined],
        key,
      )
    }
  })

  it('evaluation: a context does not disturb, and one that matches or not decides a targeted flag', async () => {
    const rich = { targetingKey: 'zoe', plan: 'gold', age: 7, tags: ['a'], since: new Date(0) }
    assert.equal(await client.getBooleanValue('open', false, rich), true)
    const hit = await client.getBooleanDetails('vip', false, ana)
    assert.deepEqual([hit.value, hit.reason], [true, StandardResolutionReasons.TARGETING_MATCH])
    assert.equal(await client.getBooleanValue('vip', true, rich), false)
  })

  it('errors: the wrong type, and an unknown flag, return the code default and throw nothing', async () => {
    const details = [
      [await client.getStringDetails('open', 'x', ana), 'x'],
      [await client.getNumberDetails('open', 0.1, ana), 0.1],
      [await client.getObjectDetails('open', { a: 1 }, ana), { a: 1 }],
    ] as const
    for (const [got, value] of details) {
      assert.deepEqual(
        [got.value, got.reason, got.errorCode],
        [value, StandardResolutionReasons.ERROR, ErrorCode.TYPE_MISMATCH],
      )
    }
    const none = await client.getBooleanDetails('missing-flag', true, ana)
    assert.deepEqual(
      [none.value, none.reason, none.errorCode],
      [true, StandardResolutionReasons.ERROR, ErrorCode.FLAG_NOT_FOUND],
    )
  })

  it('events: a change right after an evaluation is signalled and applied', async () => {
    const changed: string[] = []
    client.addHandler(ProviderEvents.ConfigurationChanged, (event) => {
      changed.push(...(event?.flagsChanged ?? []))
    })
    const other = await openPatiently({ store: redis.storeUrl })
    try {
      await other.allowlists.create({
        id: 'changing',
        name: 'Changing',
        type: 'ONDA',
        config: { strategy: 'TIME_WINDOW', startTime: 1 },
      })
      assert.equal(await client.getBooleanValue('changing', false, ana), true)
      await other.allowlists.pause('changing')
      await until('the change is told', () => changed.includes('changing'))
      assert.equal(await client.getBooleanValue('changing', true, ana), false)
    } finally {
      await other.close()
    }
  })

  it('events: losing the backend makes the provider stale, regaining it makes it ready again', async () => {
    await client.getBooleanValue('vip', false, ana)
    let stale = 0
    client.addHandler(ProviderEvents.Stale, () => void stale++)
    redis.servers[0]!.pause()
    try {
      await until('it is stale', () => stale > 0)
      assert.equal(client.providerStatus, ServerProviderStatus.STALE)
    } finally {
      redis.servers[0]!.resume()
    }
    await until('it is ready', () => client.providerStatus === ServerProviderStatus.READY)
    assert.equal((await client.getBooleanDetails('vip', false, ana)).value, true)
  })

  it('a provider that the SDK closed can be initialized again', async () => {
    let opened = 0
    const again = new CatracaProvider(() => {
      opened++
      return openPatiently({ store: 'memory:' })
    })
    for (const round of [1, 2]) {
      await OpenFeature.setProviderAndWait('again', again)
      const { errorCode } = await OpenFeature.getClient('again').getBooleanDetails('vip', false, ana)
      assert.equal(errorCode, ErrorCode.FLAG_NOT_FOUND)
      await again.onClose()
      await OpenFeature.setProviderAndWait('again', new CatracaProvider(catraca))
      assert.equal(opened, round)
    }
  })
})
