// Jest with its default configuration: CommonJS, no transform for packages.
const { Readable } = require('node:stream')
const { CatracaError, isCatracaError, openCatraca } = require('catraca')
const { startServer } = require('catraca/server')

let catraca

beforeAll(async () => {
  catraca = await openCatraca({ store: 'memory:' })
})
afterAll(() => catraca.close())

test('guards answer', async () => {
  await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  const { customerCount } = await catraca.allowlists.import(
    'vip',
    Readable.from([Buffer.from('ann\nbob\n')]),
    {
      format: 'text',
    },
  )
  expect(customerCount).toBe(2)
  expect((await catraca.allowlists.check('ann', ['vip'])).overallAllowed).toBe(true)
  const limits = { rpm: { capacity: 1, refillPeriodSeconds: 60 } }
  expect((await catraca.limits.acquire({ entity: 'ann', resource: 'api', limits })).allowed).toBe(true)
  expect((await catraca.limits.acquire({ entity: 'ann', resource: 'api', limits })).allowed).toBe(false)
  const run = () =>
    catraca.idempotency.run({ operation: 'PAY', key: 'one', payload: { a: 1 } }, async () => ({ paid: 1 }))
  expect((await run()).outcome).toBe('executed')
  expect((await run()).outcome).toBe('replayed')
})

test('errors of all paths are one class', async () => {
  const error = await catraca.allowlists.get('none').catch((each) => each)
  expect(error).toBeInstanceOf(CatracaError)
  expect(isCatracaError(error, 'ALLOWLIST_NOT_FOUND')).toBe(true)
  await expect(startServer(catraca, { nonsense: 1 })).rejects.toBeInstanceOf(CatracaError)
})

test('the server answers', async () => {
  const server = await startServer(catraca, { port: 0, metrics: false })
  const answer = await fetch(`${server.url}/customers/ann/check?allowlists=vip`)
  expect((await answer.json()).overallAllowed).toBe(true)
  await server.stop()
})
