import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { lines } from '../../bench/support/proof.js'
import { type Catraca, type OpenOptions, openCatraca } from '../../src/app/open-catraca.js'
import { isCatracaError } from '../../src/core/errors.js'
import type { CopiedState } from '../../src/guards/allowlist/last-known/disk-copy/state.js'
import { createLogger } from '../../src/server/http/logger.js'
import { startServer } from '../../src/server/index.js'
import { type RedisServers, startSingle, until } from '../support/redis/index.js'
import { temporaryDirectory } from '../support/temporary.js'

const MEMBERS = 500
const DIGEST_BYTES = 32
const isAway = (error: unknown) => isCatracaError(error, 'ENGINE_UNAVAILABLE')

describe('a copy on disk of what memory last knew', () => {
  let redis: RedisServers
  before(async () => {
    redis = await startSingle({ settings: [['appendonly', 'yes']] })
  })
  after(() => redis.stop())

  const reports: string[] = []
  const options = (directory: string, more: Partial<OpenOptions> = {}): OpenOptions => ({
    store: redis.storeUrl,
    onUnavailable: 'last-known',
    sweepIntervalMs: 0,
    codes: { pepper: 'a pepper of a test, which is no secret' },
    redis: { connectTimeoutMs: 1000, commandTimeoutMs: 1000 },
    onReport: (message) => void reports.push(message),
    ...more,
    lastKnown: { directory, ...more.lastKnown },
  })

  /** A process that has known two lists and a wave, and one member more than the snapshot, and has ended. */
  async function live(directory: string, id: string, more: Partial<OpenOptions> = {}): Promise<void> {
    const catraca = await openCatraca(options(directory, more))
    try {
      const { allowlists } = catraca
      for (const list of [id, `${id}-2`]) {
        await allowlists.create({ id: list, name: list, type: 'FIXA' })
        const ids = Array.from({ length: MEMBERS }, (_, i) => `member-${i}`)
        await allowlists.import(list, lines(ids), { format: 'text' })
        await allowlists.rebuild(list)
      }
      const config = { strategy: 'PERCENTAGE', percentage: 1, exclude: [id] } as const
      await allowlists.create({
        id: `${id}-wave`,
        name: 'Wave',
        type: 'ONDA',
        config: { ...config, exclude: [id] },
      })
      await allowlists.remove(id, 'member-1')
      const { token } = await allowlists.add(id, 'late')
      await until('memory knows it', async () => {
        const { overallAllowed } = await allowlists.check('late', [id], { atLeast: token })
        const { position } = await allowlists.index(id)
        await allowlists.check('late', [`${id}-2`, `${id}-wave`])
        return overallAllowed && position > 0
      })
    } finally {
      await catraca.close()
    }
  }

  async function whileAway<T>(work: () => Promise<T>): Promise<T> {
    const [server] = redis.servers
    await server!.kill()
    try {
      return await work()
    } finally {
      await server!.restart()
    }
  }

  const allowed = async ({ allowlists }: Catraca, customer: string, list: string) => {
    const { overallAllowed, degraded, asOf } = await allowlists.check(customer, [list])
    assert.equal(degraded, true)
    assert.ok(Date.parse(asOf!) <= Date.now() && Date.parse(asOf!) > Date.now() - 120_000, asOf)
    return overallAllowed
  }

  it('starts a process while the store is away, which answers as last known, and goes on when it is back', async () => {
    const directory = temporaryDirectory()
    await live(directory, 'a')
    for (const file of readdirSync(directory))
      assert.equal(statSync(join(directory, file)).mode & 0o777, 0o600, file)
    const catraca = await whileAway(async () => {
      const opened = await openCatraca(options(directory))
      await opened.ready
      assert.equal(await allowed(opened, 'late', 'a'), true)
      assert.equal(await allowed(opened, 'member-1', 'a'), false)
      assert.equal(await allowed(opened, 'member-2', 'a'), true)
      assert.equal(await allowed(opened, 'stranger', 'a-2'), false)
      assert.equal(await allowed(opened, 'stranger', 'a-wave'), true)
      assert.equal(await allowed(opened, 'late', 'a-wave'), false)
      await assert.rejects(opened.allowlists.check('late', ['a'], { consistency: 'strong' }), isAway)
      await assert.rejects(opened.allowlists.check('late', ['unknown']), isAway)
      await assert.rejects(opened.allowlists.add('a', 'more'), isAway)
      await assert.rejects(opened.locks.acquire('l', { ttlMs: 1000 }), isAway)
      await assert.rejects(opened.codes.issue({ channel: 'email', address: 'a@example.com' }), isAway)
      await assert.rejects(opened.idempotency.begin({ operation: 'O', key: 'k' }), isAway)
      const { status, engines } = await opened.health()
      assert.deepEqual([status, engines[0]!.name], ['unhealthy', 'redis'])
      return opened
    })
    try {
      await until('it answers for the present', async () => {
        const { overallAllowed, degraded } = await catraca.allowlists.check('late', ['a'])
        return overallAllowed && degraded === undefined
      })
      const { token } = await catraca.allowlists.add('a', 'more')
      const { overallAllowed } = await catraca.allowlists.check('more', ['a'], { atLeast: token })
      assert.equal(overallAllowed, true)
      assert.ok((await catraca.locks.acquire('l', { ttlMs: 1000 })).acquired)
      await until('its memory follows', () => catraca.indexFigures().staleLists === 0)
      await until('it is healthy', async () => (await catraca.health()).status === 'healthy')
    } finally {
      await catraca.close()
    }
  })

  it('does not start without a copy, nor with one that is damaged, of another store, or too old', async () => {
    const directory = temporaryDirectory()
    const refused = (more: Partial<OpenOptions> = {}) =>
      assert.rejects(openCatraca(options(directory, more)), isAway)
    await whileAway(() => refused())
    await live(directory, 'b')
    const state = join(directory, 'state')
    const whole = readFileSync(state)
    await whileAway(async () => {
      await refused({ lastKnown: { directory, maxStalenessMs: -1 } })
      await refused({ store: redis.storeUrl.replace(/\/\d*$|$/, '/5') })
      const damaged = Buffer.from(whole)
      damaged[whole.length >> 1]! ^= 1
      writeFileSync(state, damaged)
      await refused()
    })
    for (const why of [/older than maxStalenessMs/, /copy of redis/, /damaged/])
      assert.ok(
        reports.some((report) => why.test(report)),
        String(why),
      )
  })

  it('leaves out an image that is damaged, and one that does not fit', async () => {
    const directory = temporaryDirectory()
    await live(directory, 'c')
    const state = readFileSync(join(directory, 'state')).subarray(DIGEST_BYTES)
    const { images } = JSON.parse(String(state)) as CopiedState
    const { incarnation } = images[0]!.list
    for (const file of readdirSync(directory).filter((file) => file.startsWith(`page-${incarnation}-`))) {
      const bytes = readFileSync(join(directory, file))
      bytes[bytes.length - 1]! ^= 1
      writeFileSync(join(directory, file), bytes)
    }
    await whileAway(async () => {
      const catraca = await openCatraca(options(directory))
      try {
        await catraca.ready
        const asked = await Promise.allSettled(['c', 'c-2'].map((id) => allowed(catraca, 'member-2', id)))
        assert.deepEqual(asked.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
      } finally {
        await catraca.close()
      }
    })
    assert.ok(reports.some((report) => /on disk is not used/.test(report)))
    const small = temporaryDirectory()
    await live(small, 'd', { lastKnown: { maxDiskBytes: 100 } })
    assert.deepEqual(readdirSync(small), ['state'])
    assert.ok(reports.some((report) => /maxDiskBytes/.test(report)))
  })

  it('keeps the hashes of API keys if told to, for a server that starts meanwhile', async () => {
    const serve = async (directory: string, keepKeys: boolean) => {
      const catraca = await openCatraca(options(directory, { lastKnown: { keepKeys } }))
      await catraca.ready
      const logger = createLogger('silent')
      const server = await startServer(catraca, { port: 0, logger, keyMaxStaleMs: 60_000 })
      const stop = async () => {
        await server.stop()
        await catraca.close()
      }
      return { catraca, url: server.url, stop }
    }
    for (const keepKeys of [true, false]) {
      const directory = temporaryDirectory()
      const list = keepKeys ? 'e' : 'f'
      await live(directory, list)
      const first = await serve(directory, keepKeys)
      const { key } = await first.catraca.keys.create({ name: `key-${list}`, scopes: ['check', 'read'] })
      await first.catraca.allowlists.check('late', [list])
      const headers = { authorization: `Bearer ${key}` }
      const path = `/customers/late/check?allowlists=${list}`
      await until('the key is known', async () => (await fetch(first.url + path, { headers })).status === 200)
      await first.stop()
      await whileAway(async () => {
        const second = await serve(directory, keepKeys)
        try {
          assert.equal((await fetch(`${second.url}/ready`)).status, 200)
          const answer = await fetch(second.url + path, { headers })
          assert.equal(answer.status, keepKeys ? 200 : 503)
          if (keepKeys) assert.equal(((await answer.json()) as { degraded: boolean }).degraded, true)
          const other = { authorization: 'Bearer ctr_wrong' }
          assert.equal((await fetch(second.url + path, { headers: other })).status, keepKeys ? 401 : 503)
          assert.equal((await fetch(`${second.url}/health`, { headers })).status, 503)
        } finally {
          await second.stop()
        }
      })
      const files = readdirSync(directory).includes('keys')
      assert.equal(files, keepKeys)
      if (keepKeys) assert.doesNotMatch(readFileSync(join(directory, 'keys'), 'latin1'), new RegExp(key))
    }
  })

  it('refuses a directory where it cannot serve', async () => {
    const directory = temporaryDirectory()
    const invalid = (error: unknown) => isCatracaError(error, 'CONFIG_INVALID')
    await assert.rejects(
      openCatraca({ store: 'memory:', onUnavailable: 'last-known', lastKnown: { directory } }),
      invalid,
    )
    await assert.rejects(openCatraca(options(directory, { onUnavailable: 'block' })), invalid)
  })
})
