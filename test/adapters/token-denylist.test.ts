import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import Fastify from 'fastify'
import { revokedTokens as expressTokens } from '../../src/adapters/express.js'
import { revokedTokens as fastifyTokens } from '../../src/adapters/fastify.js'
import { withRevokedTokens } from '../../src/adapters/fetch.js'
import type { TokenClaims } from '../../src/adapters/token-denylist.js'
import { encodeIdentifier } from '../../src/core/encode-identifier.js'
import { openPatiently } from '../support/patient.js'

type Ask = (claims?: TokenClaims) => Promise<Response>

const NOW = Math.floor(Date.now() / 1000)
const inAnHour = new Date((NOW + 3600) * 1000)

/** Stands for claims whose signature was verified. */
const claimsIn = (header: string | string[] | null | undefined): TokenClaims | undefined =>
  typeof header === 'string' ? (JSON.parse(header) as TokenClaims) : undefined

async function openTokens(t: TestContext) {
  const catraca = await openPatiently({ store: 'memory:' })
  t.after(() => catraca.close())
  await catraca.tokens.revoke({ jti: 'revoked', expiresAt: inAnHour })
  for (const jti of [encodeIdentifier('auth0|1'), 'a~7c'])
    await catraca.tokens.revoke({ jti, expiresAt: inAnHour })
  await catraca.tokens.revokeSubject({ subject: 'ann', notBefore: new Date(NOW * 1000), expiresAt: inAnHour })
  return catraca.tokens
}

const overHttp =
  (url: string): Ask =>
  (claims) =>
    fetch(url, { headers: claims === undefined ? {} : { 'x-claims': JSON.stringify(claims) } })

const FRAMEWORKS: Record<string, (t: TestContext) => Promise<Ask>> = {
  async fastify(t) {
    const tokens = await openTokens(t)
    const app = Fastify()
    type Asked = { id: string; headers: IncomingMessage['headers'] }
    const claims = ({ headers }: Asked) => claimsIn(headers['x-claims'])
    await app.register(fastifyTokens<Asked>({ tokens, claims }) as never)
    app.get('/', async () => 'passed')
    t.after(() => app.close())
    return overHttp(await app.listen({ port: 0, host: '127.0.0.1' }))
  },

  async 'express and node:http'(t) {
    const tokens = await openTokens(t)
    const check = expressTokens({ tokens, claims: ({ headers }) => claimsIn(headers['x-claims']) })
    const server = createServer((request, response) => check(request, response, () => response.end('passed')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return overHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  },

  async 'fetch-style handlers'(t) {
    const tokens = await openTokens(t)
    const claims = ({ headers }: Request) => claimsIn(headers.get('x-claims'))
    const handler = withRevokedTokens(() => new Response('passed'), { tokens, claims })
    return async (given) => {
      const headers = given === undefined ? {} : { 'x-claims': JSON.stringify(given) }
      return handler(new Request('http://service.example/', { headers }))
    }
  },
}

describe('adapters of the token denylist', () => {
  for (const [framework, open] of Object.entries(FRAMEWORKS)) {
    it(`${framework}: lets pass, refuses with 401, and fails closed`, async (t) => {
      const ask = await open(t)
      const passing: (TokenClaims | undefined)[] = [
        undefined,
        { jti: 'good' },
        { jti: 'good', sub: 'bob', iat: 5 },
        { jti: 'good', sub: 'ann', iat: NOW },
        { sub: 'bob' },
        { jti: 'good', iat: 5 },
      ]
      for (const claims of passing) {
        const response = await ask(claims)
        assert.deepEqual([response.status, await response.text()], [200, 'passed'], JSON.stringify(claims))
      }
      const refused: TokenClaims[] = [
        { jti: 'revoked' },
        { jti: 'good', sub: 'ann', iat: NOW - 1 },
        { sub: 'ann' },
      ]
      for (const claims of refused) {
        const response = await ask(claims)
        const problem = (await response.json()) as { code: string }
        assert.deepEqual([response.status, problem.code], [401, 'TOKEN_REVOKED'], JSON.stringify(claims))
        assert.equal(response.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
        assert.match(response.headers.get('content-type')!, /^application\/problem\+json/)
      }
      for (const claims of [{}, { jti: 'x'.repeat(257) }]) assert.equal((await ask(claims)).status, 400)
      const strange = ['auth0|1', 'auth0|2', 'a~7c'].map(async (jti) => (await ask({ jti })).status)
      assert.deepEqual(await Promise.all(strange), [401, 200, 401])
    })
  }

  it('answer 503 when nobody can tell', async () => {
    const catraca = await openPatiently({ store: 'memory:' })
    await catraca.close()
    const { tokens } = catraca
    const handler = withRevokedTokens(() => new Response('passed'), { tokens, claims: () => ({ jti: 'a' }) })
    assert.equal((await handler(new Request('http://service.example/'))).status, 503)
  })
})
