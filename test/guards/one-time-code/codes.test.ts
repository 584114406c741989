import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { type Catraca, isCatracaError, type OpenOptions } from '../../../src/index.js'
import { openPatiently } from '../../support/patient.js'
import { temporaryDirectory } from '../../support/temporary.js'

const NOW = Date.UTC(2030, 0, 1)
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const email = { channel: 'email', address: 'ann@example.com' } as const
const phone = { channel: 'phone', address: '+5511999998888' } as const
const WRONG = { valid: false, reason: 'INVALID' }
const LOCKED = { valid: false, reason: 'LOCKED' }

let common: { clock: ManualClock; catraca: Catraca } | undefined
after(() => common?.catraca.close())

/** One instance for all tests that need no options. A day lies between two of them, so nothing of one is left for the next. */
async function openCommon(): Promise<{ clock: ManualClock; catraca: Catraca }> {
  if (common === undefined) {
    const clock = new ManualClock(NOW)
    common = { clock, catraca: await openPatiently({ store: 'memory:', sweepIntervalMs: 0, clock }) }
  }
  common.clock.advance(DAY_MS)
  return common
}

async function open(t: TestContext, options: OpenOptions): Promise<{ clock: ManualClock; catraca: Catraca }> {
  const clock = new ManualClock(NOW)
  const catraca = await openPatiently({ store: 'memory:', sweepIntervalMs: 0, clock, ...options })
  t.after(() => catraca.close())
  return { clock, catraca }
}

async function issued(catraca: Catraca, request: Parameters<Catraca['codes']['issue']>[0]): Promise<string> {
  const answer = await catraca.codes.issue(request)
  assert.ok(answer.issued)
  return answer.code
}

/** Six digits that are not the code. */
const other = (code: string): string => (code === '000000' ? '000001' : '000000')

describe('one-time codes', () => {
  it('are six digits, live ten minutes by e-mail and five by phone, and work once', async () => {
    const { catraca, clock } = await openCommon()
    const answer = await catraca.codes.issue(email)
    assert.ok(answer.issued)
    assert.match(answer.code, /^\d{6}$/)
    assert.equal(answer.expiresAt, new Date(clock.now() + 10 * MINUTE_MS).toISOString())
    const sms = await catraca.codes.issue(phone)
    assert.ok(sms.issued)
    assert.equal(sms.expiresAt, new Date(clock.now() + 5 * MINUTE_MS).toISOString())
    clock.advance(5 * MINUTE_MS)
    assert.deepEqual(await catraca.codes.verify({ ...phone, code: sms.code }), WRONG)
    clock.advance(5 * MINUTE_MS - 1)
    assert.deepEqual(await catraca.codes.verify({ ...email, code: answer.code }), { valid: true })
    assert.deepEqual(await catraca.codes.verify({ ...email, code: answer.code }), WRONG)
  })

  it('have equal answers for wrong, expired, used and never sent', async () => {
    const { catraca, clock } = await openCommon()
    const code = await issued(catraca, email)
    assert.deepEqual(await catraca.codes.verify({ ...email, code: other(code) }), WRONG)
    assert.deepEqual(await catraca.codes.verify({ ...email, address: 'bob@example.com', code }), WRONG)
    assert.deepEqual(await catraca.codes.verify({ ...email, code: 'abc' }), WRONG)
    clock.advance(10 * MINUTE_MS)
    assert.deepEqual(await catraca.codes.verify({ ...email, code }), WRONG)
  })

  it('have five attempts each, and an address is the same in any case', async () => {
    const { catraca } = await openCommon()
    const code = await issued(catraca, { ...email, address: 'Ann@Example.COM' })
    for (let i = 0; i < 5; i++) await catraca.codes.verify({ ...email, code: other(code) })
    assert.deepEqual(await catraca.codes.verify({ ...email, code }), WRONG)
  })

  it('are replaced by the next one, and separate for each purpose', async () => {
    const { catraca, clock } = await openCommon()
    const login = { ...email, purpose: 'login' }
    const first = await issued(catraca, email)
    const forLogin = await issued(catraca, login)
    assert.deepEqual(await catraca.codes.verify({ ...email, purpose: 'pay', code: first }), WRONG)
    clock.advance(MINUTE_MS)
    const second = await issued(catraca, email)
    if (first !== second) assert.deepEqual(await catraca.codes.verify({ ...email, code: first }), WRONG)
    assert.deepEqual(await catraca.codes.verify({ ...email, code: second }), { valid: true })
    assert.deepEqual(await catraca.codes.verify({ ...login, code: forLogin }), { valid: true })
  })

  it('are issued once a minute and five times an hour', async () => {
    const { catraca, clock } = await openCommon()
    await issued(catraca, email)
    clock.advance(MINUTE_MS - 1)
    assert.deepEqual(await catraca.codes.issue(email), {
      issued: false,
      violated: ['minute'],
      retryAfterMs: 1,
    })
    assert.equal((await catraca.codes.issue({ ...email, purpose: 'login' })).issued, true)
    clock.advance(1)
    for (let i = 0; i < 4; i++) {
      await issued(catraca, email)
      clock.advance(MINUTE_MS)
    }
    const denied = { issued: false, violated: ['hour'], retryAfterMs: 55 * MINUTE_MS }
    assert.deepEqual(await catraca.codes.issue(email), denied)
    clock.advance(55 * MINUTE_MS)
    await issued(catraca, email)
  })

  it('lock an address and purpose for 15 minutes after ten failures, in which no code is issued for it', async () => {
    const { catraca, clock } = await openCommon()
    for (let i = 0; i < 2; i++) {
      const code = await issued(catraca, email)
      for (let j = 0; j < 5; j++) {
        assert.deepEqual(await catraca.codes.verify({ ...email, code: other(code) }), WRONG)
        if (i === 0) clock.advance(20_000)
      }
    }
    const lockedAt = clock.now()
    clock.advance(MINUTE_MS)
    const denied = { issued: false, violated: ['lock'], retryAfterMs: 14 * MINUTE_MS }
    for (let i = 0; i < 6; i++) assert.deepEqual(await catraca.codes.issue(email), denied)
    clock.set(lockedAt + 15 * MINUTE_MS - 1)
    assert.deepEqual(await catraca.codes.verify({ ...email, code: '123456' }), LOCKED)
    const login = { ...email, purpose: 'login' }
    assert.deepEqual(await catraca.codes.verify({ ...login, code: await issued(catraca, login) }), {
      valid: true,
    })
    clock.advance(1)
    // What was refused under the lock was not counted as issued.
    const code = await issued(catraca, email)
    assert.deepEqual(await catraca.codes.verify({ ...email, code }), { valid: true })
  })

  it('count failures only: a success gives its own back, and so does the right code that was used', async () => {
    const { catraca, clock } = await openCommon()
    for (let i = 0; i < 4; i++) {
      const code = await issued(catraca, email)
      for (let j = 0; j < 2; j++) await catraca.codes.verify({ ...email, code: other(code) })
      assert.deepEqual(await catraca.codes.verify({ ...email, code }), { valid: true })
      clock.advance(MINUTE_MS)
    }
    const code = await issued(catraca, email)
    await catraca.codes.verify({ ...email, code: other(code) })
    assert.deepEqual(await catraca.codes.verify({ ...email, code }), { valid: true })
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(await catraca.codes.verify({ ...email, code }), WRONG)
      assert.deepEqual(await catraca.codes.status(email), { pending: false, failures: 9 })
    }
    assert.deepEqual(await catraca.codes.verify({ ...email, code: other(code) }), WRONG)
    assert.deepEqual(await catraca.codes.verify({ ...email, code }), LOCKED)
  })

  it('cannot be guessed: 10,000 guesses with resends end locked, compared at most ten times in 15 minutes', async () => {
    const { catraca, clock } = await openCommon()
    const answers = { INVALID: 0, LOCKED: 0 }
    let valid = 0
    for (let i = 0; i < 100; i++) {
      await catraca.codes.issue(email)
      const guesses = Array.from({ length: 100 }, (_, j) => {
        const code = String(i * 100 + j).padStart(6, '0')
        return catraca.codes.verify({ ...email, code })
      })
      for (const answer of await Promise.all(guesses)) {
        if (answer.valid) valid++
        else answers[answer.reason]++
      }
      clock.advance(6000)
    }
    assert.equal(valid + answers.INVALID + answers.LOCKED, 10_000)
    // Ten minutes, so one window; a lucky guess is given back.
    assert.equal(answers.INVALID + valid, 10 + valid)
    assert.deepEqual(await catraca.codes.verify({ ...email, code: '123456' }), LOCKED)
  })

  it('work once over two instances, whoever asks at the same time, and leave no failure', async (t) => {
    const store = `embedded:${temporaryDirectory()}`
    const [{ catraca: one }, { catraca: two }] = [await open(t, { store }), await open(t, { store })]
    const code = await issued(one, email)
    const verifies = Array.from({ length: 100 }, (_, i) =>
      (i % 2 === 0 ? one : two).codes.verify({ ...email, code }),
    )
    const answers = await Promise.all(verifies)
    assert.equal(answers.filter(({ valid }) => valid).length, 1)
    assert.deepEqual(await one.codes.status(email), { pending: false, failures: 0 })
  })

  it('are not opened with options that would make them worth nothing', async () => {
    const wrong: [object, string][] = [
      [{ digits: 3 }, 'codes.digits'],
      [{ digits: 15 }, 'codes.digits'],
      [{ maxFailures: Number.POSITIVE_INFINITY }, 'codes.maxFailures'],
      [{ maxAttempts: 0 }, 'codes.maxAttempts'],
      [{ lockMs: 0.5 }, 'codes.lockMs'],
      [{ issuesPerMinute: 0 }, 'codes.issuesPerMinute'],
      [{ lifeMs: { email: 600_000 } }, 'codes.lifeMs.phone'],
    ]
    for (const [codes, path] of wrong) {
      await assert.rejects(
        openPatiently({ store: 'memory:', codes: codes as never }).then((catraca) => catraca.close()),
        (error) => isCatracaError(error, 'INVALID_INPUT') && error.errors?.[0]?.path === path,
        path,
      )
    }
  })

  it('know a domain by its one name, however it is spelled', async () => {
    const { catraca } = await openCommon()
    const spellings = [
      'ann@M\u00dcNCHEN.de',
      'ann@mu\u0308nchen.de',
      'Ann@xn--mnchen-3ya.DE',
      'ann@m\u00fcnchen.\uff44\uff45',
    ]
    const code = await issued(catraca, { ...email, address: spellings[0]! })
    for (const address of spellings) {
      assert.deepEqual((await catraca.codes.issue({ ...email, address })).issued, false, address)
      assert.deepEqual(await catraca.codes.verify({ ...email, address, code: other(code) }), WRONG)
    }
    assert.deepEqual(await catraca.codes.verify({ ...email, address: spellings[2]!, code }), { valid: true })
    await issued(catraca, { ...email, address: 'ann@example.com' })
    const wide = await catraca.codes.issue({ ...email, address: 'ann@\uff45xample.com' })
    assert.equal(wide.issued, false)
  })

  it('take letters with marks in any spelling, and know them by one', async () => {
    const { catraca } = await openCommon()
    const same: string[][] = [
      ['jos\u00e9@example.com', 'jose\u0301@example.com', 'JOSE\u0301@example.com'],
      // No composed form: a consonant of Devanagari with its vowel sign, and a letter with two marks.
      ['\u0915\u093f.\u0930\u093e\u092e@example.com'],
      ['q\u0323\u0307@example.com', 'q\u0307\u0323@example.com', 'Q\u0307\u0323@example.com'],
      ['\u0130@example.com', 'i\u0307@example.com'],
    ]
    for (const [first, ...others] of same) {
      const code = await issued(catraca, { ...email, address: first! })
      for (const address of others)
        assert.equal((await catraca.codes.issue({ ...email, address })).issued, false)
      const address = others.at(-1) ?? first!
      assert.deepEqual(await catraca.codes.verify({ ...email, address, code }), { valid: true })
    }
    for (const address of ['\u0301a@example.com', 'a.\u0301b@example.com', '\u0301@example.com']) {
      await assert.rejects(catraca.codes.issue({ ...email, address }), (error) =>
        isCatracaError(error, 'INVALID_INPUT'),
      )
    }
  })

  it('refuse what is no address, without repeating it', async () => {
    const { catraca } = await openCommon()
    const wrong: [object, string][] = [
      [{ channel: 'fax', address: 'x@example.com' }, 'channel'],
      [{ ...email, address: 'ann' }, 'address'],
      [{ ...email, address: 'ann@localhost' }, 'address'],
      [{ ...email, address: 'ann@@example.com' }, 'address'],
      [{ ...email, address: 'a nn@example.com' }, 'address'],
      [{ ...email, address: 'a:nn@example.com' }, 'address'],
      [{ ...email, address: 'ann\u0000@example.com' }, 'address'],
      [{ ...email, address: `${'a'.repeat(65)}@example.com` }, 'address'],
      [{ ...email, address: `a@${'b'.repeat(250)}.com` }, 'address'],
      [{ ...email, address: 7 }, 'address'],
      [{ ...email, address: 'ann@example.com.' }, 'address'],
      [{ ...email, address: ' ann@example.com' }, 'address'],
      [{ ...email, address: 'ann@xn--\u00fc.com' }, 'address'],
      [{ ...email, address: `a@${'\u00fc'.repeat(60)}.com` }, 'address'],
      [{ ...email, address: 'ann@\uff11\uff12\uff17.1' }, 'address'],
      [{ ...phone, address: '5511999998888' }, 'address'],
      [{ ...phone, address: '+55 11 99999 8888' }, 'address'],
      [{ ...phone, address: '+0511999998888' }, 'address'],
      [{ ...email, purpose: 'a b' }, 'purpose'],
      [{ ...email, code: '' }, 'code'],
      [{ ...email, code: '1'.repeat(65) }, 'code'],
      [{ ...email, code: 123456 }, 'code'],
    ]
    for (const [request, field] of wrong) {
      const error = await catraca.codes.verify({ code: '123456', ...request } as never).then(
        () => assert.fail(`${field} was taken`),
        (thrown) => thrown,
      )
      assert.ok(isCatracaError(error, 'INVALID_INPUT'), String(error))
      assert.equal(error.errors?.[0]?.path, field)
      const { address } = request as { address: unknown }
      assert.ok(!error.message.includes(String(address)), error.message)
    }
  })
})

describe('the pepper', () => {
  it('is made beside the data, for its owner only, and the same in every process', async (t) => {
    const directory = temporaryDirectory()
    const store = `embedded:${directory}`
    const { catraca: one } = await open(t, { store })
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('otp')),
      [],
    )
    const code = await issued(one, email)
    assert.equal(statSync(join(directory, 'otp-pepper')).mode & 0o777, 0o600)
    assert.match(readFileSync(join(directory, 'otp-pepper'), 'utf8'), /^[\w-]{43}\n$/)
    const { catraca: two } = await open(t, { store })
    assert.deepEqual(await two.codes.verify({ ...email, code }), { valid: true })
    const again = await issued(one, phone)
    rmSync(join(directory, 'otp-pepper'))
    const { catraca: three } = await open(t, { store })
    assert.deepEqual(await three.codes.verify({ ...phone, code: again }), WRONG)
  })

  it('is never empty: a broken file is told of', async (t) => {
    const directory = temporaryDirectory()
    const { catraca } = await open(t, { store: `embedded:${directory}` })
    writeFileSync(join(directory, 'otp-pepper'), '\n')
    await assert.rejects(
      catraca.codes.issue(email),
      (error) => isCatracaError(error, 'STORE_CORRUPT') && error.message.includes('otp-pepper'),
    )
    rmSync(join(directory, 'otp-pepper'))
    await issued(catraca, email)
  })

  it('may change while codes are on their way', async (t) => {
    let pepper = 'pepper-of-the-first-days'
    const directory = temporaryDirectory()
    const store = `embedded:${directory}`
    const { catraca, clock } = await open(t, { store, codes: { pepper: () => pepper } })
    const first = await issued(catraca, email)
    const second = await issued(catraca, phone)
    pepper = 'pepper-of-the-second-days'
    assert.deepEqual(await catraca.codes.verify({ ...email, code: first }), { valid: true })
    const renewed = { pepper, previousPepper: 'pepper-of-the-first-days' }
    const { catraca: later } = await open(t, { store, codes: renewed })
    assert.deepEqual(await later.codes.verify({ ...phone, code: second }), { valid: true })
    const third = await issued(later, { ...email, purpose: 'x' })
    const { catraca: without } = await open(t, { store, codes: { pepper: 'another-one-altogether' } })
    assert.deepEqual(await without.codes.verify({ ...email, purpose: 'x', code: third }), WRONG)
    clock.advance(10 * MINUTE_MS)
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('otp')),
      [],
    )
  })

  it('may change more than once, and while nobody here uses codes', async (t) => {
    const peppers = ['pepper-of-the-first-days', 'pepper-of-the-second-days', 'pepper-of-the-third-days']
    let pepper = peppers[0]!
    const store = `embedded:${temporaryDirectory()}`
    const { catraca: idle } = await open(t, { store, codes: { pepper: () => pepper } })
    const { catraca, clock } = await open(t, { store, codes: { pepper: () => pepper } })
    const first = await issued(catraca, email)
    const other = await issued(catraca, phone)
    pepper = peppers[1]!
    assert.deepEqual(await idle.codes.verify({ ...phone, code: other }), { valid: true })
    const second = await issued(catraca, { ...email, purpose: 'pay' })
    pepper = peppers[2]!
    const late = await issued(catraca, { ...email, purpose: 'login' })
    assert.deepEqual(await catraca.codes.verify({ ...email, code: first }), { valid: true })
    assert.deepEqual(await catraca.codes.verify({ ...email, purpose: 'pay', code: second }), { valid: true })
    pepper = peppers[0]!
    clock.advance(10 * MINUTE_MS - 1)
    assert.deepEqual(await catraca.codes.verify({ ...email, purpose: 'login', code: late }), { valid: true })
  })

  it('is reported when it is short', async (t) => {
    const reports: string[] = []
    await open(t, { codes: { pepper: 'salt' }, onReport: (message) => reports.push(message) })
    assert.equal(reports.filter((message) => message.includes('CATRACA_OTP_PEPPER')).length, 1)
  })
})

describe('what is kept of a code', () => {
  it('is a hash: no byte of the data directory is the code', async () => {
    const directory = temporaryDirectory()
    const clock = new ManualClock(NOW)
    const catraca = await openPatiently({ store: `embedded:${directory}`, clock, codes: { digits: 12 } })
    const codes: string[] = []
    try {
      for (let i = 0; i < 20; i++) {
        const request = { ...email, address: `user${i}@example.com` }
        codes.push(await issued(catraca, request))
        await catraca.codes.verify({ ...request, code: codes.at(-1)!.replace(/^./, 'x') })
      }
    } finally {
      await catraca.close()
    }
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    const dump = Buffer.concat(files.map((file) => readFileSync(join(file.parentPath, file.name))))
    assert.ok(dump.includes('user7@example.com'))
    for (const code of codes) assert.ok(!dump.includes(code), 'a code is in the store')
  })

  it('goes away when it is over', async () => {
    const { catraca, clock } = await openCommon()
    const code = await issued(catraca, email)
    clock.advance(10 * MINUTE_MS)
    await catraca.upkeep()
    // Before its end by the clock, and yet gone: only the sweep can have dropped it.
    clock.advance(-1)
    assert.deepEqual(await catraca.codes.verify({ ...email, code }), WRONG)
  })
})
