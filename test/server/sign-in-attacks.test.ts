import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { SessionStore } from '../../src/guards/access/sessions/port.js'
import { Attempts } from '../../src/server/access/sign-in/attempts.js'
import { openSignInScene, type SignInScene, signInScene, type TestBrowser } from '../support/oidc.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from './support.js'

const SESSION = 'catraca_session'
const PENDING = 'catraca_signing_in'
const failed = (why: string): string => `/console/?signIn=${why}`

/** What somebody tries who attacks the sessions of others. */
describe('an attacker', () => {
  let scene: SignInScene & { close(): Promise<void> }
  before(async () => {
    scene = await openSignInScene()
    scene.provider.people.set('ann', { groups: ['platform'], email: 'ann@example.com' })
    scene.provider.people.set('mal', { groups: ['platform'], email: 'mal@example.com' })
  })
  after(() => scene.close())

  const signedIn = async (name: string): Promise<TestBrowser> => {
    const browser = scene.browser()
    assert.equal(await browser.signIn(name), '/console/')
    return browser
  }
  const back = async (browser: TestBrowser, url: URL | string) =>
    (await browser.send(url)).headers.get('location')

  it('cannot use a code again, nor one of another browser', async () => {
    const ann = scene.browser()
    const url = await ann.codeFor('ann')
    const pending = ann.own().get(PENDING)!
    assert.equal(await back(ann, url), '/console/')
    assert.equal(await back(ann, url), failed('expired'), 'the browser has forgotten the sign-in')
    const thief = scene.browser()
    thief.own().set(PENDING, pending)
    assert.equal(await back(thief, url), failed('failed'), 'the provider takes a code once')
    assert.equal(thief.own().has(SESSION), false)
    const stolen = await ann.codeFor('ann')
    assert.equal(await back(scene.browser(), stolen), failed('expired'), 'no sign-in of this browser')
    const mal = scene.browser()
    await mal.codeFor('mal')
    assert.equal(await back(mal, stolen), failed('expired'), 'the state of another browser')
    stolen.searchParams.set('state', new URL(await mal.codeFor('mal')).searchParams.get('state')!)
    assert.equal(await back(mal, stolen), failed('failed'), 'the verifier and the nonce of another browser')
  })

  it('cannot make up a state or a pending sign-in', async () => {
    const ann = scene.browser()
    const url = await ann.codeFor('ann')
    const requests = scene.provider.tokenRequests
    for (const state of ['', 'forged', undefined]) {
      const forged = new URL(url)
      if (state === undefined) forged.searchParams.delete('state')
      else forged.searchParams.set('state', state)
      assert.equal(await back(scene.browser(), forged), failed('expired'))
    }
    const other = scene.browser()
    const session = (await signedIn('ann')).own().get(SESSION)!
    for (const value of ['x', 'A'.repeat(200), session, `${ann.own().get(PENDING) ?? ''}x`]) {
      other.own().set(PENDING, value)
      assert.equal(await back(other, url), failed('expired'), value)
    }
    assert.equal(scene.provider.tokenRequests - requests, 1, 'only the sign-in of Ann made a call')
  })

  it('cannot set the session of somebody before the sign-in, nor keep one beside it', async () => {
    const victim = scene.browser()
    victim.own().set(SESSION, (await signedIn('mal')).own().get(SESSION)!)
    const planted = victim.own().get(SESSION)
    await victim.signIn('ann')
    assert.notEqual(victim.own().get(SESSION), planted)
    assert.equal((await victim.call('GET', '/session')).json.name, 'ann@example.com')
    const mal = scene.browser()
    mal.own().set(SESSION, planted!)
    assert.equal((await mal.call('GET', '/session')).status, 401, 'what was planted has ended')
  })

  it('cannot keep a session that the next person at this browser replaces', async () => {
    const browser = await signedIn('ann')
    const old = browser.own().get(SESSION)!
    const back = await browser.codeFor('ann')
    // After a page of the provider, browsers do not send a strict cookie with the redirect.
    browser.own().delete(SESSION)
    assert.equal((await browser.send(back)).headers.get('location'), '/console/')
    assert.equal((await browser.call('GET', '/session')).status, 200)
    browser.own().set(SESSION, old)
    assert.equal((await browser.call('GET', '/session')).status, 401)
  })

  it('cannot use a session with a server that trusts another provider, or is another client', async () => {
    const store = `embedded:${temporaryDirectory()}`
    const scenes = [
      await openSignInScene({ open: { store } }),
      await openSignInScene({ open: { store } }),
      await openSignInScene({ open: { store }, signIn: { clientId: 'another' } }),
    ]
    try {
      const [first, ...others] = scenes as unknown as [SignInScene, ...SignInScene[]]
      first.provider.people.set('ann', { groups: ['platform'] })
      const ann = first.browser()
      assert.equal(await ann.signIn('ann'), '/console/')
      const session = ann.own().get(SESSION)!
      for (const other of others) {
        const browser = other.browser()
        browser.own().set(SESSION, session)
        assert.equal((await browser.call('GET', '/session')).status, 401)
        await browser.call('POST', '/sign-out')
      }
      assert.equal((await ann.call('GET', '/session')).status, 200, 'nor end it there')
    } finally {
      for (const { close } of scenes) await close()
    }
  })

  it('fills neither store nor memory with sign-ins that nobody finishes', async () => {
    const { sessions } = scene.servers[0]!.catraca
    const { store } = sessions as unknown as { store: SessionStore }
    const { read, swap } = store
    let calls = 0
    const counted =
      <Given extends unknown[], Result>(call: (...given: Given) => Result) =>
      (...given: Given): Result => {
        calls++
        return call.apply(store, given)
      }
    Object.assign(store, { read: counted(read), swap: counted(swap) })
    const requests = scene.provider.tokenRequests
    for (let i = 0; i < 100; i++) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => scene.browser().send('/sign-in')))
      for (const { status, headers } of answers) {
        const cookie = headers.getSetCookie()[0]!
        assert.ok(status === 302 && cookie.startsWith(PENDING) && cookie.length < 1000)
      }
    }
    Object.assign(store, { read, swap })
    assert.deepEqual([calls, scene.provider.tokenRequests - requests], [0, 0])
  })

  it('learns nothing from what is answered while the store is away', async () => {
    const { sessions } = scene.servers[0]!.catraca
    const open = sessions.open.bind(sessions)
    sessions.open = () => Promise.reject(new Error('a secret of the store'))
    const ann = scene.browser()
    const answer = await ann.send(await ann.codeFor('ann'))
    sessions.open = open
    assert.deepEqual(
      [answer.status, answer.headers.get('location'), answer.text],
      [302, failed('failed'), ''],
    )
    assert.equal(ann.own().has(SESSION), false)
  })

  it('cannot make up a session, and makes no work for the store', async () => {
    const browser = await signedIn('ann')
    const [person, secret, signature] = browser.own().get(SESSION)!.split('.') as [string, string, string]
    const flip = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)
    const { sessions } = scene.servers[0]!.catraca
    const find = sessions.find.bind(sessions)
    let reads = 0
    sessions.find = (...given) => {
      reads++
      return find(...given)
    }
    const values = [
      ...[
        '',
        'x',
        '..',
        `${person}.${secret}`,
        `${person}.${secret}.`,
        `${person}.${secret}.${'A'.repeat(43)}`,
      ],
      ...[`${flip(person)}.${secret}.${signature}`, `${person}.${flip(secret)}.${signature}`],
      ...[`${person}.${secret}.${flip(signature)}`, `${person}.${secret}.${signature}A`, 'ü'.repeat(10)],
    ]
    for (const value of values) {
      const headers = { cookie: `${SESSION}=${encodeURI(value)}`, 'sec-fetch-site': 'same-origin' }
      assert.equal((await scene.browser().send('/session', { headers })).status, 401, value)
    }
    assert.equal(reads, 0)
    const twice = `${SESSION}=${browser.own().get(SESSION)}; ${SESSION}=${person}.${secret}.${signature}`
    assert.equal((await scene.browser().send('/session', { headers: { cookie: twice } })).status, 401, 'two')
    sessions.find = find
  })

  it('cannot plant a cookie under a name that only looks like ours', async () => {
    const session = (await signedIn('mal')).own().get(SESSION)!
    // A neighbour under the same domain may set all of these, also where `__Host-` keeps it from the name itself.
    for (const before of ['\u00a0', '\u00a0 ', '\u0085', '$Version=1;\u00a0', '"', '\u00e2\u0080\u0080']) {
      const headers = { cookie: `${before}${SESSION}=${session}`, 'sec-fetch-site': 'same-origin' }
      assert.equal((await scene.browser().send('/session', { headers })).status, 401, JSON.stringify(before))
    }
    const headers = { cookie: `a=b;\t ${SESSION}=${session} ;c=d`, 'sec-fetch-site': 'same-origin' }
    assert.equal((await scene.browser().send('/session', { headers })).status, 200)
  })

  it('cannot stay by a stream of events, which would outlive the session', async () => {
    const ann = await signedIn('ann')
    const headers = { 'sec-fetch-site': 'same-origin' }
    const signal = AbortSignal.timeout(30_000)
    const stream = await ann.send('/ofrep/v1/events?targetingKey=a', { headers, signal })
    assert.deepEqual([stream.status, stream.json.code], [403, 'FORBIDDEN'])
  })

  it('cannot use up the limits of an API key whose name they took', async (t) => {
    const limited = await signInScene(t, { server: { flags: { limitedBy: 'flags' } } })
    limited.provider.people.set('mal', { groups: ['platform'], email: 'shop' })
    const { limits, keys } = limited.servers[0]!.catraca
    const rpm = { capacity: 1, refillPeriodSeconds: 3600, algorithm: 'fixed-window' } as const
    await limits.setConfig({ level: 'resource', resource: 'flags' }, { limits: { rpm } })
    const { key } = await keys.create({ name: 'shop', scopes: ['check'] })
    const mal = limited.browser()
    await mal.signIn('mal')
    const flag = '/ofrep/v1/evaluate/flags/none'
    const body = { context: { targetingKey: 'a' } }
    assert.equal((await mal.call('POST', flag, body)).status, 404)
    assert.equal((await mal.call('POST', flag, body)).status, 429)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    await until('the key is known', async () => {
      const { status } = await limited.browser().send(flag, init)
      assert.notEqual(status, 429)
      return status === 404
    })
  })

  it('cannot send requests from a page of another site', async () => {
    const ann = await signedIn('ann')
    const cookie = `${SESSION}=${ann.own().get(SESSION)}`
    const own = scene.baseUrl
    const list = { method: 'POST', body: JSON.stringify({ id: 'forged', name: 'F', type: 'FIXA' }) }
    const json = { 'content-type': 'application/json' }
    const elsewhere: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: own.replace('127.0.0.1', 'localhost') },
      { origin: `${own}0` },
      { origin: `${own}.evil.example` },
      { origin: own, 'sec-fetch-site': 'cross-site' },
      { origin: own, 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
      // No browser sends it so.
      {},
    ]
    for (const headers of elsewhere) {
      for (const path of ['/allowlists', '/sign-out', '/keys']) {
        const { status, json: told } = await scene
          .browser()
          .send(path, { ...list, headers: { ...json, ...headers, cookie } })
        assert.deepEqual([status, told.code], [403, 'FORBIDDEN_ORIGIN'], `${path} ${JSON.stringify(headers)}`)
      }
    }
    for (const site of ['cross-site', 'same-site']) {
      const headers = { cookie, 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }
      assert.equal((await scene.browser().send('/allowlists', { headers })).status, 403, site)
    }
    assert.equal((await ann.call('GET', '/allowlists/forged')).status, 404)
    assert.equal((await ann.call('GET', '/session')).status, 200, 'and the session goes on')
  })

  it('cannot lead people elsewhere', async () => {
    const browser = scene.browser()
    const elsewhere = [
      ...[
        'https://evil.example',
        '//evil.example',
        '/\\evil.example',
        '/console\\..\\..',
        'javascript:alert(1)',
      ],
      ...['/console//evil.example', '/console/../docs', '/console/%2e%2e/../docs', '/', '/docs', '/consolex'],
      ...['/console/\r\nset-cookie: a=b', '/console/\t/evil.example', 'console', '/console@evil.example', ''],
    ]
    for (const page of elsewhere) {
      const { status, headers } = await browser.send(`/sign-in?returnTo=${encodeURIComponent(page)}`)
      assert.deepEqual([status, headers.get('location')], [400, null], page)
    }
    assert.equal((await browser.send('/sign-in?returnTo=/console/&returnTo=//evil.example')).status, 302)
  })

  it('cannot use what the cookie of one purpose holds for another', async () => {
    const ann = scene.browser()
    await ann.send('/sign-in')
    const pending = ann.own().get(PENDING)!
    ann.own().set(SESSION, pending)
    assert.equal((await ann.call('GET', '/session')).status, 401)
  })

  it('is soon told to wait when attempts fail', async () => {
    let nowMs = 0
    const attempts = new Attempts(() => nowMs)
    const fail = (address: string) =>
      attempts
        .run(address, () => Promise.reject(new Error('refused')))
        .catch((error) => error.code ?? 'tried')
    const outcomes = []
    for (let i = 0; i < 40; i++) outcomes.push(await fail('10.0.0.1'))
    assert.equal(outcomes.filter((one) => one === 'tried').length, 30)
    assert.equal(outcomes.at(-1), 'OVERLOADED')
    assert.equal(await attempts.run('10.0.0.2', async () => 'in'), 'in', 'others are let in')
    for (let i = 0; i < 400; i++) await fail(`10.0.1.${i}`)
    await assert.rejects(
      attempts.run('10.0.0.2', async () => 'in'),
      { code: 'OVERLOADED' },
    )
    nowMs = 60_000
    assert.equal(await attempts.run('10.0.0.1', async () => 'in'), 'in')
    const ends: (() => void)[] = []
    const running = Array.from({ length: 10 }, () =>
      attempts.run('a', () => new Promise<void>((resolve) => ends.push(resolve))),
    )
    await assert.rejects(
      attempts.run('b', async () => 'in'),
      { code: 'OVERLOADED' },
    )
    for (const end of ends) end()
    await Promise.all(running)
  })
})
