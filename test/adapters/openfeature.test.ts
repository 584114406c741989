import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { OFREPProvider } from '@openfeature/ofrep-provider'
import {
  type Client,
  ErrorCode,
  OpenFeature,
  ProviderEvents,
  ServerProviderStatus,
} from '@openfeature/server-sdk'
import { CatracaProvider } from '../../src/adapters/openfeature.js'
import type { Catraca, OpenOptions } from '../../src/index.js'
import { openServer, until } from '../server/support.js'
import { makeTables } from '../support/dynamodb-engine.js'
import { CREDENTIALS, startDynamo } from '../support/dynamodb-server.js'
import { openPatiently } from '../support/patient.js'
import { type RedisServers, startSingle } from '../support/redis/index.js'
import { temporaryDirectory } from '../support/temporary.js'

const directory = temporaryDirectory()
let redis: RedisServers | undefined
after(() => redis?.stop())

const STORES: Record<string, () => Promise<OpenOptions> | OpenOptions> = {
  embedded: () => ({ store: `embedded:${directory}` }),
  async Redis() {
    redis = await startSingle()
    return { store: redis.storeUrl }
  },
  async DynamoDB() {
    const server = await startDynamo()
    const { names } = await makeTables(server)
    return { store: server.url(names), dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0 } }
  },
}

const LISTS = ['vip', 'half', 'stopped']

async function fill({ allowlists }: Catraca): Promise<void> {
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await allowlists.add('vip', 'ana')
  const half = { strategy: 'PERCENTAGE' as const, percentage: 0.5, exclude: ['vip'] }
  await allowlists.create({ id: 'half', name: 'Half', type: 'ONDA', config: half })
  const all = { strategy: 'PERCENTAGE' as const, percentage: 1 }
  await allowlists.create({ id: 'stopped', name: 'Stopped', type: 'ONDA', config: all })
  await allowlists.pause('stopped')
}

/** Each provider is under a domain of its own, as the SDK wants it. */
async function clientOf(domain: string, provider: OFREPProvider | CatracaProvider): Promise<Client> {
  await OpenFeature.setProviderAndWait(domain, provider)
  return OpenFeature.getClient(domain)
}

after(() => OpenFeature.close())

for (const [engine, store] of Object.entries(STORES)) {
  describe(`OpenFeature on ${engine}`, () => {
    let options: OpenOptions
    let server: Awaited<ReturnType<typeof openServer>>
    let remote: Client
    let local: Client
    before(async () => {
      options = await store()
      server = await openServer({}, options, fill)
      const remoteProvider = new OFREPProvider({ baseUrl: server.url })
      remote = await clientOf(`remote-${engine}`, remoteProvider)
      local = await clientOf(`local-${engine}`, new CatracaProvider(server.catraca))
    })
    after(() => server.close())

    it('gives the same over HTTP, in process, by check and by explain', async () => {
      const { allowlists } = server.catraca
      for (const key of LISTS) {
        for (let i = 0; i < 20; i++) {
          const targetingKey = i === 0 ? 'ana' : `customer-${i}`
          const far = await remote.getBooleanDetails(key, false, { targetingKey })
          const near = await local.getBooleanDetails(key, false, { targetingKey })
          const { results } = await allowlists.check(targetingKey, [key])
          const explained = await allowlists.explain(targetingKey, [key])
          const expected = results[0]!.allowed
          assert.deepEqual(
            [far.value, near.value, explained.results[0]!.allowed],
            [expected, expected, expected],
          )
          const facts = ({
            reason,
            variant,
            flagMetadata: { catracaAtLeast: _, ...metadata },
          }: typeof far) => {
            return { reason, variant, metadata }
          }
          assert.deepEqual(facts(far), facts(near))
          assert.equal(far.flagMetadata.checkReason, results[0]!.reason)
        }
      }
      const paused = await remote.getBooleanDetails('stopped', true, { targetingKey: 'ana' })
      assert.deepEqual([paused.value, paused.reason], [false, 'DISABLED'])
    })

    it('gives the default and says why where it cannot evaluate', async () => {
      for (const client of [remote, local]) {
        const none = await client.getBooleanDetails('none', true, { targetingKey: 'ana' })
        assert.deepEqual([none.value, none.errorCode], [true, ErrorCode.FLAG_NOT_FOUND])
        const nobody = await client.getBooleanDetails('vip', true, {})
        assert.deepEqual([nobody.value, nobody.errorCode], [true, ErrorCode.TARGETING_KEY_MISSING])
        const text = await client.getStringDetails('vip', 'x', { targetingKey: 'ana' })
        assert.deepEqual([text.value, text.errorCode], ['x', ErrorCode.TYPE_MISMATCH])
        const context = { targetingKey: 'ana', catracaAtLeast: 'of nobody' }
        const bad = await client.getBooleanDetails('vip', false, context)
        assert.equal(bad.errorCode, ErrorCode.INVALID_CONTEXT)
      }
    })

    it('sees a write of another instance by its token', async () => {
      const other = await openPatiently(options)
      try {
        for (const customer of ['carl', 'dora']) {
          const { token: catracaAtLeast } = await other.allowlists.add('vip', customer)
          for (const client of [remote, local]) {
            assert.equal(
              await client.getBooleanValue('vip', false, { targetingKey: customer, catracaAtLeast }),
              true,
            )
          }
        }
      } finally {
        await other.close()
      }
    })

    it('tells of changes that another instance made', async () => {
      const changed = new Set<string>()
      local.addHandler(ProviderEvents.ConfigurationChanged, (event) => {
        for (const key of event?.flagsChanged ?? []) changed.add(key)
      })
      for (const key of LISTS) await local.getBooleanValue(key, false, { targetingKey: 'ana' })
      const other = await openPatiently(options)
      try {
        // The provider compares from its first look on.
        let name = 0
        await until('the change is told', async () => {
          await other.allowlists.update('half', { name: `Half ${++name}` })
          return changed.has('half')
        })
        assert.ok(!changed.has('stopped'))
      } finally {
        await other.close()
      }
    })

    it('refuses a wrong key, slows down above the limit, and answers again when the server is back', async () => {
      const port = Number(new URL(server.url).port)
      const { key } = await server.catraca.keys.create({ name: 'app', scopes: ['check'] })
      const rule = { rpm: { capacity: 3, refillAmount: 1, refillPeriodSeconds: 3600 } }
      await server.catraca.limits.setConfig({ level: 'system', resource: 'flags' }, { limits: rule })
      await server.close()
      const provider = (token: string) =>
        new OFREPProvider({
          baseUrl: `http://127.0.0.1:${port}`,
          headers: [['Authorization', `Bearer ${token}`]],
        })
      const ask = async (client: Client) => {
        const { value, errorCode, errorMessage } = await client.getBooleanDetails('vip', false, {
          targetingKey: 'ana',
        })
        return { value, errorCode, errorMessage }
      }
      const client = await clientOf(`app-${engine}`, provider(key))
      const away = await ask(client)
      assert.deepEqual([away.value, away.errorCode], [false, ErrorCode.GENERAL])

      server = await openServer({ port, flags: { limitedBy: 'flags' } }, options)
      const stranger = await ask(await clientOf(`stranger-${engine}`, provider('wrong')))
      assert.deepEqual([stranger.value, stranger.errorCode], [false, ErrorCode.GENERAL])
      const answers = []
      for (let i = 0; i < 5; i++) answers.push(await ask(client))
      assert.deepEqual(
        answers.map(({ value }) => value),
        [true, true, true, false, false],
      )
      // After a 429 the provider asks no more for as long as `Retry-After` says.
      assert.match(answers[4]!.errorMessage!, /TooManyRequests|Too many/i)
    })
  })
}

describe('a provider that opened its instance', () => {
  it('closes it at the end', async () => {
    const provider = new CatracaProvider(() => openPatiently({ store: 'memory:' }))
    const early = provider.resolveBooleanEvaluation('vip', false, { targetingKey: 'ana' })
    await assert.rejects(early, /not initialized/)
    const client = await clientOf('own', provider)
    assert.equal(client.providerStatus, ServerProviderStatus.READY)
    const { errorCode } = await client.getBooleanDetails('vip', false, { targetingKey: 'ana' })
    assert.equal(errorCode, ErrorCode.FLAG_NOT_FOUND)
    await provider.onClose()
    const closed = await client.getBooleanDetails('vip', false, { targetingKey: 'ana' })
    assert.equal(closed.errorCode, ErrorCode.GENERAL)
  })
})
