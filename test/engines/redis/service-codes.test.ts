import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { usesCodes } from '../../../src/cli/settings.js'
import { loadConfig } from '../../../src/config/load.js'
import { type Catraca, isCatracaError, type OpenOptions } from '../../../src/index.js'
import { serve } from '../../server/support.js'
import { openPatiently } from '../../support/patient.js'
import { oneEmptiedServer } from '../../support/redis/index.js'

const redis = await oneEmptiedServer()

const say = (...args: string[]): Promise<unknown> => redis.servers[0]!.say(...args)
const email = { channel: 'email', address: 'user@example.com' } as const
const phone = { channel: 'phone', address: '+5511999998888' } as const
const PEPPER = 'a-pepper-for-these-tests'

async function open(t: TestContext, codes: OpenOptions['codes'] = { pepper: PEPPER }): Promise<Catraca> {
  const catraca = await openPatiently({ store: redis.storeUrl, sweepIntervalMs: 0, codes: { ...codes } })
  t.after(() => catraca.close())
  return catraca
}

async function issued(catraca: Catraca, request: Parameters<Catraca['codes']['issue']>[0]): Promise<string> {
  const answer = await catraca.codes.issue(request)
  assert.ok(answer.issued)
  return answer.code
}

describe('one-time codes over Redis', () => {
  it('have the keys of the source, which expire by themselves', async (t) => {
    const catraca = await open(t)
    await issued(catraca, email)
    await issued(catraca, phone)
    await issued(catraca, { ...email, purpose: 'login' })
    await issued(catraca, { ...email, address: 'a{b}%@example.com' })
    assert.deepEqual(((await say('KEYS', 'otp:*')) as string[]).sort(), [
      'otp:email:a%7Bb%7D%25@example.com',
      'otp:email:user@example.com',
      'otp:email:user@example.com:login',
      'otp:phone:+5511999998888',
    ])
    const ttl = Number(await say('PTTL', 'otp:email:user@example.com'))
    assert.ok(ttl > 590_000 && ttl <= 600_000, `${ttl}`)
    assert.ok(Number(await say('PTTL', 'otp:phone:+5511999998888')) <= 300_000)
    assert.deepEqual(((await say('HKEYS', 'otp:phone:+5511999998888')) as string[]).sort(), [
      'attempts',
      'expiresAt',
      'hash',
      'salt',
    ])
  })

  it('write as much for an address without a code: a disk or a replica that is waited for does not tell', async (t) => {
    const catraca = await open(t)
    const code = await issued(catraca, email)
    const wrong = code === '000000' ? '000001' : '000000'
    const written = async (request: { channel: 'email'; address: string }): Promise<number> => {
      await catraca.codes.verify({ ...request, code: wrong })
      const [before, after] = [
        await changes(),
        await catraca.codes.verify({ ...request, code: wrong }).then(changes),
      ]
      return after - before
    }
    const changes = async (): Promise<number> =>
      Number(/rdb_changes_since_last_save:(\d+)/.exec((await say('INFO', 'persistence')) as string)![1])
    const known = await written(email)
    const unknown = await written({ ...email, address: 'nobody@example.com' })
    assert.ok(unknown >= known, `${known} changes for a wrong code, ${unknown} where there is none`)
    for (let i = 0; i < 3; i++) await catraca.codes.verify({ ...email, code: wrong })
    assert.ok((await written(email)) >= known, 'attempts used up')
    assert.equal(await say('EXISTS', 'otp:email:nobody@example.com'), 0)
  })

  it('are not those that another program keeps under the same name', async (t) => {
    const catraca = await open(t)
    await say('SET', 'otp:email:user@example.com', '123456', 'EX', '600')
    const wrong = { valid: false, reason: 'INVALID' }
    assert.deepEqual(await catraca.codes.verify({ ...email, code: '123456' }), wrong)
    assert.equal(await say('GET', 'otp:email:user@example.com'), '123456')
    await assert.rejects(catraca.codes.issue(email), (error) => isCatracaError(error, 'STORE_CORRUPT'))
    assert.equal(await say('GET', 'otp:email:user@example.com'), '123456')
  })

  it('work once over two instances, whoever asks at the same time, and leave no failure', async (t) => {
    const [one, two] = [await open(t), await open(t)]
    const code = await issued(one, email)
    const verifies = Array.from({ length: 100 }, (_, i) =>
      (i % 2 === 0 ? one : two).codes.verify({ ...email, code }),
    )
    const answers = await Promise.all(verifies)
    assert.equal(answers.filter(({ valid }) => valid).length, 1)
    assert.deepEqual(await one.codes.status(email), { pending: false, failures: 0 })
    // What is left tells the right code from a wrong one, and passes nobody: another program finds no hash.
    const left = (await say('HKEYS', 'otp:email:user@example.com')) as string[]
    assert.deepEqual(left.sort(), ['attempts', 'expiresAt', 'salt', 'usedHash'])
    assert.ok(Number(await say('PTTL', 'otp:email:user@example.com')) > 0)
  })

  it('are nowhere in the database, and addresses only in their own keys', async (t) => {
    const catraca = await open(t, { pepper: PEPPER, digits: 12 })
    const codes = [await issued(catraca, email), await issued(catraca, phone)]
    await catraca.codes.verify({ ...email, code: '123456' })
    const dump: string[] = []
    for (const key of (await say('KEYS', '*')) as string[]) {
      const type = String(await say('TYPE', key))
      const read = { hash: ['HGETALL', key], string: ['GET', key], zset: ['ZRANGE', key, '0', '-1'] }[type]
      assert.ok(read, `${key} is a ${type}`)
      const value = JSON.stringify(await say(...read))
      dump.push(key, value)
      assert.ok(!value.includes(email.address) && !value.includes('999998888'), key)
      if (!key.startsWith('otp:')) assert.ok(!key.includes(email.address) && !key.includes('999998888'), key)
    }
    assert.ok(dump.length > 10)
    for (const code of codes) assert.ok(!dump.join('\n').includes(code))
  })

  it('need a pepper: the start refuses where they are required', async (t) => {
    const needsPepper = (error: unknown): boolean =>
      isCatracaError(error, 'CONFIG_INVALID') && /CATRACA_OTP_PEPPER/.test(error.message)
    await assert.rejects(open(t, { required: true }), needsPepper)
    await assert.rejects(open(t, { store: redis.storeUrl }), needsPepper)
  })

  it('answer 503 and name the setting where a server has no pepper for them', async (t) => {
    const { call, catraca } = await serve(t, {}, { store: redis.storeUrl })
    const isNotSetUp = (error: unknown): boolean => isCatracaError(error, 'CODES_NOT_SET_UP')
    await assert.rejects(catraca.codes.issue(email), isNotSetUp)
    for (const path of ['/otp/email', '/otp/email/verify', '/otp/email/status']) {
      const body = { address: email.address, ...(path.endsWith('verify') && { code: '123456' }) }
      const { status, json } = await call('POST', path, { body })
      assert.deepEqual([status, json.code], [503, 'CODES_NOT_SET_UP'], path)
      assert.match(json.detail, /CATRACA_OTP_PEPPER/)
    }
  })

  it('are in use where a setting or a key says so, and then a server needs the pepper to start', () => {
    const uses = (environment: Record<string, string>): boolean => {
      return usesCodes(loadConfig({ env: { CATRACA_STORE: redis.storeUrl, ...environment }, cwd: '/' }))
    }
    const keys = (...scopes: string[]) => JSON.stringify([{ name: 'app', scopes, hash: '0'.repeat(64) }])
    assert.equal(uses({}), false)
    assert.equal(uses({ CATRACA_KEYS: keys('check', 'admin') }), false)
    assert.equal(uses({ CATRACA_KEYS: keys('check', 'codes:verify') }), true)
    assert.equal(uses({ CATRACA_STORE_CODES: redis.storeUrl }), true)
    assert.equal(uses({ CATRACA_CODES_REQUIRED: 'true' }), true)
  })

  it('let nobody pass when the server is gone', async (t) => {
    const catraca = await open(t, { pepper: PEPPER, timeoutMs: 300 })
    const code = await issued(catraca, email)
    await redis.servers[0]!.kill()
    const gone = (error: unknown): boolean =>
      isCatracaError(error, 'ENGINE_UNAVAILABLE') || isCatracaError(error, 'UNKNOWN_OUTCOME')
    await assert.rejects(catraca.codes.verify({ ...email, code }), gone)
    await assert.rejects(catraca.codes.issue(phone), gone)
  })
})
