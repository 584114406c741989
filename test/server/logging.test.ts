import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { type Logger, pino } from 'pino'
import { CatracaError } from '../../src/core/errors.js'
import { bearer, serve, until } from './support.js'

type Line = Record<string, unknown>

function capture(): { lines: Line[]; logger: Logger } {
  const lines: Line[] = []
  return {
    lines,
    logger: pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text)) }),
  }
}

const requests = (lines: Line[]) => lines.filter(({ msg }) => msg === 'request')
const PLAIN = '/customers/ana-secreta/check?allowlists=vip'
const LONG = `${PLAIN}&consistency=strong`

describe('the access log', () => {
  it('tells the route, not the address, and hides who the customer is', async (t) => {
    const { lines, logger } = capture()
    const server = await serve(t, { logger, accessLogSampling: 1 })
    for (const path of [PLAIN, LONG, '/customers/other/check?allowlists=vip']) {
      await server.call('GET', path, { headers: { 'x-request-id': 'r-1' } })
    }
    const [first, second, third] = requests(lines)
    for (const line of [first, second]) {
      assert.equal(line!.requestId, 'r-1')
      assert.equal(line!.method, 'GET')
      assert.equal(line!.route, '/customers/:customerId/check')
      assert.equal(line!.status, 200)
      assert.ok((line!.latencyMs as number) > 0)
      assert.match(String(line!.customerId), /^[0-9a-f]{16}$/)
    }
    assert.equal(first!.customerId, second!.customerId, 'one customer, one hash')
    assert.notEqual(first!.customerId, third!.customerId)
    assert.doesNotMatch(JSON.stringify(lines), /ana-secreta/)
  })

  it('tells of a check what the source design logs', async (t) => {
    const { lines, logger } = capture()
    const server = await serve(t, { logger, accessLogSampling: 1 })
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await server.catraca.allowlists.add('vip', 'ana')
    await server.catraca.allowlists.rebuild('vip')
    const ask = async (query: string) => {
      await server.call('GET', `/customers/${query}`)
      const { checks, cacheHit, bloomFiltered } = requests(lines).at(-1)!
      return { checks, cacheHit, bloomFiltered }
    }
    await until('in memory', async () => (await ask('eva/check?allowlists=vip')).bloomFiltered === true)
    const no = [{ allowlistId: 'vip', type: 'FIXA', reason: 'NOT_MEMBER' }]
    const yes = [{ allowlistId: 'vip', type: 'FIXA', reason: 'MEMBER' }]
    const eva = await ask('eva/check?allowlists=vip')
    assert.deepEqual(eva, { checks: no, cacheHit: true, bloomFiltered: true })
    const strong = await ask('eva/check?allowlists=vip&consistency=strong')
    assert.deepEqual(strong, { checks: no, cacheHit: false, bloomFiltered: false })
    const ana = await ask('ana/check?allowlists=vip')
    assert.deepEqual(ana, { checks: yes, cacheHit: false, bloomFiltered: false })
    const again = await ask('ana/check?allowlists=vip')
    assert.deepEqual(again, { checks: yes, cacheHit: true, bloomFiltered: false })
  })

  it('asks for no figures that grow with the lists in memory', async (t) => {
    const { lines, logger } = capture()
    const server = await serve(t, { logger, accessLogSampling: 1 })
    server.catraca.stats = () => assert.fail('looks through all lists')
    for (const path of [PLAIN, LONG]) assert.equal((await server.call('GET', path)).status, 200)
    assert.equal(requests(lines).length, 2)
  })

  it('makes the same hash under the same key only', async (t) => {
    const hashes: unknown[] = []
    for (const logHashKey of ['one', 'one', 'two', undefined]) {
      const { lines, logger } = capture()
      const options = { logger, accessLogSampling: 1 }
      const server = await serve(t, logHashKey === undefined ? options : { ...options, logHashKey })
      await server.call('GET', PLAIN)
      hashes.push(requests(lines)[0]!.customerId)
    }
    assert.equal(hashes[0], hashes[1])
    assert.equal(new Set(hashes).size, 3)
  })

  it('names customers when told to', async (t) => {
    const { lines, logger } = capture()
    const server = await serve(t, { logger, accessLogSampling: 1, logCustomerIds: true })
    await server.call('GET', PLAIN)
    assert.equal(requests(lines)[0]!.customerId, 'ana-secreta')
  })

  it('is a sample, which may be nothing', async (t) => {
    const { lines, logger } = capture()
    const server = await serve(t, { logger, accessLogSampling: 0 })
    for (const path of [PLAIN, LONG, '/nowhere', '/live']) await server.call('GET', path)
    assert.deepEqual(requests(lines), [])
    const chance = t.mock.method(Math, 'random', () => 0.3)
    const some = capture()
    const sampled = await serve(t, { logger: some.logger, accessLogSampling: 0.31 })
    await sampled.call('GET', PLAIN)
    assert.equal(requests(some.lines).length, 1)
    chance.mock.mockImplementation(() => 0.32)
    await sampled.call('GET', PLAIN)
    await sampled.call('GET', LONG)
    assert.equal(requests(some.lines).length, 1)
  })

  it('always tells of failures of the server, with their cause, which the caller does not learn', async (t) => {
    const { lines, logger } = capture()
    const server = await serve(t, { logger, accessLogSampling: 0 })
    const { allowlists } = server.catraca
    t.mock.method(allowlists, 'list', async () => {
      throw new TypeError('the secret wiring')
    })
    const check = t.mock.method(allowlists, 'checkNow', async () => {
      throw new CatracaError('ENGINE_UNAVAILABLE', 'the engine did not answer')
    })
    const internal = await server.call('GET', '/allowlists')
    assert.deepEqual([internal.status, internal.json.code], [500, 'INTERNAL'])
    assert.doesNotMatch(internal.text, /wiring/)
    const down = await server.call('GET', PLAIN)
    assert.deepEqual([down.status, down.json.code], [503, 'ENGINE_UNAVAILABLE'])
    check.mock.mockImplementation(() => Promise.reject(new Error('later wiring')) as never)
    assert.equal((await server.call('GET', PLAIN)).json.code, 'INTERNAL')
    const logged = requests(lines)
    assert.deepEqual(
      logged.map(({ status }) => status),
      [500, 503, 500],
    )
    assert.deepEqual(logged[0]!.requestId, internal.json.requestId)
    assert.match(JSON.stringify(logged[0]!.err), /the secret wiring/)
    assert.match(JSON.stringify(logged[2]!.err), /later wiring/)
    assert.ok(logged.every(({ level }) => level === 50))
  })

  it('names the key, and never shows it', async (t) => {
    const { lines, logger } = capture()
    const server = await serve(t, { logger, accessLogSampling: 1 })
    const made = await server.call('POST', '/keys', { body: { name: 'ops', scopes: ['admin'] } })
    const { key } = made.json
    for (const path of [PLAIN, LONG, '/keys']) await server.call('GET', path, { headers: bearer(key) })
    await server.call('GET', PLAIN, { headers: bearer('ctr_wrong') })
    await until('logged', () => requests(lines).length === 5)
    const names = requests(lines).map((line) => line.key)
    assert.deepEqual(names, [undefined, 'ops', 'ops', 'ops', undefined])
    const all = JSON.stringify(lines)
    for (const secret of [key, 'ctr_wrong', 'Bearer']) assert.equal(all.includes(secret), false, secret)
  })
})

describe('the log on standard output', () => {
  const LOGGER = new URL('../../src/server/http/logger.js', import.meta.url).href
  const logAndExit = `import { createLogger } from '${LOGGER}'; createLogger().info('last'); process.exit(3)`
  const run = () => spawn(process.execPath, ['--input-type=module', '-e', logAndExit])

  it('is written out at the exit', async () => {
    const child = run()
    assert.equal(JSON.parse(await text(child.stdout)).msg, 'last')
  })

  it('does not keep the process from its exit when nobody reads it', async (t) => {
    const child = run()
    t.after(() => child.kill('SIGKILL'))
    child.stdout.destroy()
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(60_000) })
    assert.deepEqual(await ended, [3, null])
  })
})
