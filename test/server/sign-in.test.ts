import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { ManualClock } from '../../src/core/clock.js'
import type { SessionStore } from '../../src/guards/access/sessions/port.js'
import { CLIENT, newKey, type SignInScene, signInScene } from '../support/oidc.js'
import { bearer } from './support.js'

const MINUTE_MS = 60_000
const SESSION = 'catraca_session'
const REQUESTS = 100

const failed = (why: string): string => `/console/?signIn=${why}`

function people({ provider }: SignInScene): void {
  provider.people.set('ann', { groups: ['platform'], email: 'ann@example.com' })
  provider.people.set('bob', { groups: ['team-a'], email: 'bob@example.com' })
  provider.people.set('eve', { groups: ['visitors'], email: 'eve@example.com' })
}

describe('sign-in', () => {
  it('makes a session of a person, whom the audit trail names, and ends it', async (t) => {
    const scene = await signInScene(t)
    people(scene)
    const ann = scene.browser()
    assert.equal((await ann.call('GET', '/session')).status, 401)
    assert.deepEqual((await ann.call('GET', '/sign-in/offer')).json, { offered: true })
    assert.equal(await ann.signIn('ann', '/console/audit?search=a%20b'), '/console/audit?search=a%20b')
    const { json } = await ann.call('GET', '/session')
    assert.equal(json.name, 'ann@example.com')
    assert.deepEqual(json.scopes, ['admin', 'read', 'check'])
    assert.deepEqual([json.person.subject, json.person.roles, json.limits], ['ann', ['platform'], undefined])
    assert.equal((await ann.call('POST', '/allowlists', { id: 'vip', name: 'V', type: 'FIXA' })).status, 201)
    const { items } = (await ann.call('GET', '/audit')).json
    assert.deepEqual(items[0].actor, { kind: 'person', name: 'ann@example.com', id: 'ann' })

    const kept = new Map(ann.own())
    const out = await ann.call('POST', '/sign-out')
    assert.equal(out.status, 200)
    const end = new URL(out.json.location)
    assert.equal(end.origin, scene.provider.issuer)
    assert.equal(end.searchParams.get('post_logout_redirect_uri'), `${scene.baseUrl}/console`)
    assert.ok(end.searchParams.has('id_token_hint'))
    assert.equal(ann.own().size, 0)
    for (const [name, value] of kept) ann.own().set(name, value)
    assert.equal((await ann.call('GET', '/session')).status, 401, 'the cookie is worth nothing any more')
    assert.deepEqual((await ann.call('POST', '/sign-out')).json, {}, 'again')
  })

  it('sets cookies that scripts and other sites cannot use, and keeps only hashes and sealed tokens', async (t) => {
    const scene = await signInScene(t)
    people(scene)
    const ann = scene.browser()
    const begun = await ann.send('/sign-in')
    const [pending] = begun.headers.getSetCookie()
    assert.match(pending!, /^catraca_signing_in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
    assert.equal(begun.headers.get('cache-control'), 'no-store')
    const done = await ann.send(await ann.codeFor('ann'))
    const [gone, session] = done.headers.getSetCookie()
    assert.match(gone!, /^catraca_signing_in=; .*Max-Age=0$/)
    assert.match(session!, /^catraca_session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict$/)
    assert.equal(done.headers.get('referrer-policy'), 'no-referrer')
    const [person, secret] = ann.own().get(SESSION)!.split('.')
    const found = await scene.servers[0]!.catraca.sessions.find(person!, secret!)
    assert.equal(found, undefined, 'the secret is not what is stored')
    // Every session of the person, whatever its id.
    const [stored] = await scene.servers[0]!.catraca.sessions.end(person!, () => true)
    const text = JSON.stringify(stored)
    assert.ok(text.includes('ann@example.com') && !text.includes(secret!))
    assert.ok(!/eyJ/.test(text), 'no token in the clear')
  })

  it('is in the log only by the subject, without names, codes or tokens', async (t) => {
    const lines: string[] = []
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const scene = await signInScene(t, { server: { logger, accessLogSampling: 1 } })
    scene.provider.people.set('ann-7', { groups: ['platform'], email: 'ann@example.com' })
    const ann = scene.browser()
    const back = await ann.codeFor('ann-7')
    const secrets = [back.searchParams.get('code')!, back.searchParams.get('state')!]
    secrets.push(ann.own().get('catraca_signing_in')!)
    assert.equal((await ann.send(back)).headers.get('location'), '/console/')
    secrets.push(...ann.own().get(SESSION)!.split('.').slice(1))
    await ann.send(back)
    assert.equal((await ann.call('PUT', '/log-level', { level: 'debug' })).status, 200)
    assert.equal((await ann.call('POST', '/sign-out')).status, 200)
    const log = lines.join('')
    assert.match(log, /"person":"ann-7"[^\n]*the log level was changed/)
    for (const secret of [...secrets, 'ann@', 'eyJ', CLIENT.secret]) assert.ok(!log.includes(secret), secret)
  })

  it('is refused to people without a role, and to those who go back', async (t) => {
    const scene = await signInScene(t)
    people(scene)
    const eve = scene.browser()
    assert.equal(await eve.signIn('eve'), failed('no-role'))
    assert.equal(eve.own().has(SESSION), false)
    assert.equal(await scene.browser().signIn(''), failed('denied'))
  })

  it('takes a name only from an e-mail that is not known to be unverified', async (t) => {
    const scene = await signInScene(t)
    const groups = ['platform']
    scene.provider.people.set('mallory', { groups, email: 'ann@example.com', email_verified: false })
    scene.provider.people.set('odd', { groups, email: 'ann\u202e@\u0000example.com' })
    scene.provider.people.set('mal', { groups, email: 'ann@example.com', email_verified: 'false' })
    scene.provider.people.set('m\u202eal', { groups })
    const nameOf = async (subject: string): Promise<string> => {
      const browser = scene.browser()
      await browser.signIn(subject)
      return (await browser.call('GET', '/session')).json.name
    }
    assert.equal(await nameOf('mallory'), 'mallory')
    assert.equal(await nameOf('mal'), 'mal', 'some providers write it as a text')
    assert.equal(await nameOf('odd'), 'ann@example.com')
    assert.equal(await nameOf('m\u202eal'), 'mal', 'a subject is shown like a name')
  })

  it('locks the server, also one that never had a key', async (t) => {
    const scene = await signInScene(t)
    const [server] = scene.servers
    assert.equal(server!.keyed, true)
    const nobody = scene.browser()
    assert.equal((await nobody.call('GET', '/allowlists')).status, 401)
    const { key } = await server!.catraca.keys.create({ name: 'app', scopes: ['read'] })
    await server!.call('GET', '/live')
    for (let i = 0; ; i++) {
      const { status } = await nobody.send('/allowlists', { headers: bearer(key) as Record<string, string> })
      if (status === 200) break
      assert.ok(i < 500, 'the key is not known')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
})

describe('a person who is removed at the provider', () => {
  it('is out when the provider is asked, ten minutes later at the latest', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock } })
    people(scene)
    const ann = scene.browser()
    await ann.signIn('ann')
    clock.advance(9 * MINUTE_MS)
    assert.equal((await ann.call('GET', '/session')).status, 200)
    assert.equal(scene.provider.tokenRequests, 1, 'nobody was asked yet')
    clock.advance(MINUTE_MS)
    assert.equal((await ann.call('GET', '/session')).status, 200)
    assert.equal(scene.provider.tokenRequests, 2, 'asked after ten minutes')
    scene.provider.people.delete('ann')
    clock.advance(10 * MINUTE_MS)
    assert.equal((await ann.call('GET', '/session')).status, 401)
    scene.provider.people.set('ann', { groups: ['platform'] })
    assert.equal((await ann.call('GET', '/session')).status, 401, 'and does not come back by itself')
  })

  it('is out within the life of an access token that is shorter', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock } })
    people(scene)
    scene.provider.accessTokenSeconds = 60
    const ann = scene.browser()
    await ann.signIn('ann')
    scene.provider.people.delete('ann')
    clock.advance(59_000)
    assert.equal((await ann.call('GET', '/session')).status, 200)
    clock.advance(1_000)
    assert.equal((await ann.call('GET', '/session')).status, 401)
  })

  it('is out too if only the person is refused, and not the renewal', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock } })
    people(scene)
    const ann = scene.browser()
    await ann.signIn('ann')
    scene.provider.refusesTokens = true
    clock.advance(10 * MINUTE_MS)
    assert.equal((await ann.call('GET', '/session')).status, 401)
  })

  it('loses roles in the same time, and with the last one the session', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock } })
    people(scene)
    const ann = scene.browser()
    await ann.signIn('ann')
    scene.provider.people.set('ann', { groups: ['team-a'], email: 'ann@new.example' })
    clock.advance(10 * MINUTE_MS)
    const { json } = await ann.call('GET', '/session')
    assert.deepEqual([json.name, json.person.roles], ['ann@new.example', ['team-a']])
    scene.provider.people.set('ann', { groups: [] })
    clock.advance(10 * MINUTE_MS)
    assert.equal((await ann.call('GET', '/session')).status, 401)
  })

  it('stays while the provider is away, for as long as the setting says', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock }, signIn: { providerAwayMs: 15 * MINUTE_MS } })
    people(scene)
    const ann = scene.browser()
    await ann.signIn('ann')
    scene.provider.isAway = true
    clock.advance(24 * MINUTE_MS)
    assert.equal((await ann.call('GET', '/session')).status, 200)
    clock.advance(MINUTE_MS)
    const refused = await ann.call('GET', '/session')
    assert.deepEqual([refused.status, refused.json.code], [503, 'SIGN_IN_UNAVAILABLE'])
    scene.provider.isAway = false
    clock.advance(10_000)
    assert.equal((await ann.call('GET', '/session')).status, 200, 'the session was not ended')
    assert.equal(await scene.browser().signIn('bob'), '/console/')
  })

  it('without a refresh token is out when the word of the provider ends', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock } })
    people(scene)
    scene.provider.givesRefreshTokens = false
    const ann = scene.browser()
    await ann.signIn('ann')
    clock.advance(9 * MINUTE_MS)
    assert.equal((await ann.call('GET', '/session')).status, 200)
    clock.advance(MINUTE_MS)
    assert.equal((await ann.call('GET', '/session')).status, 401)
  })
})

describe('a session', () => {
  it('ends when it is not used, and after its whole time', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock } })
    people(scene)
    const idle = scene.browser()
    const busy = scene.browser()
    await idle.signIn('ann')
    await busy.signIn('ann')
    for (let minutes = 0; minutes < 12 * 60 - 20; minutes += 20) {
      clock.advance(20 * MINUTE_MS)
      assert.equal((await busy.call('GET', '/session')).status, 200, `after ${minutes + 20} minutes`)
    }
    assert.equal((await idle.call('GET', '/session')).status, 401)
    clock.advance(20 * MINUTE_MS)
    assert.equal((await busy.call('GET', '/session')).status, 401, 'twelve hours')
  })

  it('is shared by all processes, which renew it once', async (t) => {
    const clock = new ManualClock(Date.now())
    const { temporaryDirectory } = await import('../support/temporary.js')
    const store = `embedded:${temporaryDirectory()}`
    const scene = await signInScene(t, { servers: 2, open: { clock, store } })
    people(scene)
    const ann = scene.browser()
    await ann.signIn('ann')
    clock.advance(10 * MINUTE_MS)
    const before = scene.provider.tokenRequests
    const cookie = `${SESSION}=${ann.own().get(SESSION)}`
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => {
        const headers = { cookie, 'sec-fetch-site': 'same-origin' }
        return scene.servers[i % 2]!.call('GET', '/session', { headers })
      }),
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.equal(scene.provider.tokenRequests - before, 1, 'a refresh token is good for one use')
    await ann.call('POST', '/sign-out')
    for (const server of scene.servers) {
      const headers = { cookie, 'sec-fetch-site': 'same-origin' }
      assert.equal((await server.call('GET', '/session', { headers })).status, 401)
    }
  })

  it('is written down once for requests of the same moment', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock } })
    people(scene)
    const ann = scene.browser()
    await ann.signIn('ann')
    clock.advance(2 * MINUTE_MS)
    const { sessions } = scene.servers[0]!.catraca
    const { store } = sessions as unknown as { store: SessionStore }
    const [read, swap] = [store.read.bind(store), store.swap.bind(store)]
    let [reads, swaps] = [0, 0]
    store.read = (person) => {
      reads++
      return read(person)
    }
    store.swap = async (...given) => {
      // All of them have found the session as it was.
      while (reads < REQUESTS) await new Promise((resolve) => setImmediate(resolve))
      const isSwapped = await swap(...given)
      if (isSwapped) swaps++
      return isSwapped
    }
    const answers = await Promise.all(Array.from({ length: REQUESTS }, () => ann.call('GET', '/session')))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.equal(swaps, 1)
  })

  it('is one of at most ten of a person: the one that was used least recently ends', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock }, signIn: { sessionsPerPerson: 2 } })
    people(scene)
    const browsers = [scene.browser(), scene.browser(), scene.browser()]
    for (const browser of browsers) {
      await browser.signIn('ann')
      clock.advance(1000)
    }
    const statuses = []
    for (const browser of browsers) statuses.push((await browser.call('GET', '/session')).status)
    assert.deepEqual(statuses, [401, 200, 200])
  })

  it('gives way to an API key in the same request', async (t) => {
    const scene = await signInScene(t)
    people(scene)
    const ann = scene.browser()
    await ann.signIn('ann')
    const { status } = await ann.send('/session', { headers: { authorization: 'Bearer ctr_wrong' } })
    assert.equal(status, 401)
  })

  it('is not trusted while the store is away', async (t) => {
    const scene = await signInScene(t)
    people(scene)
    const ann = scene.browser()
    await ann.signIn('ann')
    await scene.servers[0]!.catraca.close()
    assert.equal((await ann.call('GET', '/session')).status, 503)
  })
})

describe('what the provider sends', () => {
  const forgeries: Record<string, (claims: Record<string, unknown>) => void> = {
    'a wrong audience': (claims) => {
      claims.aud = 'another-client'
    },
    'a wrong issuer': (claims) => {
      claims.iss = 'http://127.0.0.1:1'
    },
    'a wrong nonce': (claims) => {
      claims.nonce = 'another'
    },
    'no nonce': (claims) => {
      delete claims.nonce
    },
    'a token that has expired': (claims) => {
      claims.exp = Math.floor(Date.now() / 1000) - 60
    },
    'a token of tomorrow': (claims) => {
      claims.nbf = Math.floor(Date.now() / 1000) + 86_400
    },
    'another person than the tokens are of': (claims) => {
      claims.sub = 'bob'
    },
    'a token for several clients, of which another asked': (claims) => {
      claims.aud = ['catraca', 'another-client']
      claims.azp = 'another-client'
    },
    'no subject': (claims) => {
      delete claims.sub
    },
  }

  it('is refused if it is forged', async (t) => {
    const scene = await signInScene(t)
    people(scene)
    const browser = scene.browser()
    for (const [what, forge] of Object.entries(forgeries)) {
      scene.provider.forge = (claims) => void forge(claims)
      assert.equal(await browser.signIn('ann'), failed('failed'), what)
    }
    const key = await newKey()
    scene.provider.forge = () => ({ key })
    assert.equal(await browser.signIn('ann'), failed('failed'), 'signed with a key of somebody else')
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const alg of ['none', 'HS256']) {
      scene.provider.forge = (claims) => {
        const signed = `${encoded({ alg })}.${encoded(claims)}`
        const mac = createHmac('sha256', CLIENT.secret).update(signed).digest('base64url')
        return { token: `${signed}.${alg === 'none' ? '' : mac}` }
      }
      assert.equal(await browser.signIn('ann'), failed('failed'), `the algorithm ${alg}`)
    }
    for (const token of ['', 'x', 'a.b.c', `${encoded({})}.${encoded({})}.`]) {
      scene.provider.forge = () => ({ token })
      assert.equal(await browser.signIn('ann'), failed('failed'), `the token ${token}`)
    }
    assert.equal(browser.own().has(SESSION), false)
    scene.provider.forge = (claims) => void (claims.exp = Math.floor(Date.now() / 1000) - 5)
    assert.equal(await browser.signIn('ann'), '/console/', 'clocks may differ a little')
  })

  it('gives roles only by texts that are names of groups, however many', async (t) => {
    const scene = await signInScene(t)
    const many = Array.from({ length: 5_000 }, (_, i) => `group-${i}`)
    const good: unknown[] = ['platform', ['platform', 'platform'], [...many, 'platform']]
    const bad: unknown[] = [
      ...[undefined, null, 7, true, {}, { platform: true }, [], [['platform']], [{ name: 'platform' }]],
      ...['*', 'Platform', ' platform', 'platform,team-a', '["platform"]', '__proto__', many],
    ]
    for (const groups of [...good, ...bad]) {
      const isIn = good.includes(groups)
      scene.provider.people.set('ann', { groups })
      const browser = scene.browser()
      const told = JSON.stringify(groups)?.slice(0, 40)
      assert.equal(await browser.signIn('ann'), isIn ? '/console/' : failed('no-role'), told)
      assert.ok((browser.own().get(SESSION) ?? '').length < 200)
    }
  })

  it('may be signed with new keys at any time', async (t) => {
    const clock = new ManualClock(Date.now())
    const scene = await signInScene(t, { open: { clock } })
    people(scene)
    const ann = scene.browser()
    await ann.signIn('ann')
    await scene.provider.rotateKeys()
    assert.equal(await scene.browser().signIn('bob'), '/console/')
    clock.advance(10 * MINUTE_MS)
    assert.equal((await ann.call('GET', '/session')).status, 200, 'renewed with the new keys')
  })
})
