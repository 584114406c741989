import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TokenClaims } from '../../src/adapters/token-denylist.js'
import { encodeIdentifier } from '../../src/core/encode-identifier.js'
import { openPatiently } from '../support/patient.js'
import { FRAMEWORKS, headerOf, openPlaces, PLACES } from './frameworks.js'

/** Stands for claims whose signature was verified. */
function claims(request: unknown): TokenClaims | undefined {
  const header = headerOf(request, 'x-claims')
  return header === undefined ? undefined : (JSON.parse(header) as TokenClaims)
}

const opened = openPlaces()

describe('adapters of the token denylist', () => {
  for (const [framework, start] of Object.entries(FRAMEWORKS)) {
    for (const place of PLACES) {
      it(`${framework}, ${place}: lets pass, refuses with 401, and fails closed`, async (t) => {
        const { catraca, clock } = opened
        const guards = opened.guards[place]
        const now = clock.now() / 1000
        const expiresAt = new Date((now + 3600) * 1000)
        for (const jti of ['revoked', encodeIdentifier('auth0|1'), 'a~7c']) {
          await catraca.tokens.revoke({ jti, expiresAt })
        }
        await catraca.tokens.revokeSubject({ subject: 'ann', notBefore: new Date(now * 1000), expiresAt })
        const service = await start(t, { revokedTokens: { catraca: guards, claims } })
        const ask = (given?: TokenClaims) =>
          service('/', { headers: given === undefined ? {} : { 'x-claims': JSON.stringify(given) } })
        const passing: (TokenClaims | undefined)[] = [
          undefined,
          { jti: 'good' },
          { jti: 'good', sub: 'bob', iat: 5 },
          { jti: 'good', sub: 'ann', iat: now },
          { sub: 'bob' },
          { sub: 'ann', iat: now },
          { jti: 'good', iat: 5 },
        ]
        for (const given of passing) {
          const response = await ask(given)
          assert.deepEqual([response.status, await response.text()], [200, 'passed'], JSON.stringify(given))
        }
        const refused: TokenClaims[] = [
          { jti: 'revoked' },
          { jti: 'good', sub: 'ann', iat: now - 1 },
          { sub: 'ann', iat: now - 1 },
          { sub: 'ann' },
        ]
        for (const given of refused) {
          const response = await ask(given)
          const problem = (await response.json()) as { code: string }
          assert.deepEqual([response.status, problem.code], [401, 'TOKEN_REVOKED'], JSON.stringify(given))
          assert.equal(response.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
          assert.match(response.headers.get('content-type')!, /^application\/problem\+json/)
        }
        for (const given of [{}, { jti: 'x'.repeat(257) }]) assert.equal((await ask(given)).status, 400)
        const strange = ['auth0|1', 'auth0|2', 'a~7c'].map(async (jti) => (await ask({ jti })).status)
        assert.deepEqual(await Promise.all(strange), [401, 200, 401])
      })
    }

    it(`${framework}: let the service write the refusal`, async (t) => {
      const { catraca, clock } = opened
      await catraca.tokens.revoke({ jti: 'revoked', expiresAt: new Date(clock.now() + 3600_000) })
      const denial = () => ({ body: { error: 'log in again' } })
      const ask = await start(t, { revokedTokens: { catraca, claims, denial } })
      const response = await ask('/', { headers: { 'x-claims': '{"jti":"revoked"}' } })
      assert.deepEqual([response.status, await response.json()], [401, { error: 'log in again' }])
    })
  }

  it('answer 503 when nobody can tell', async (t) => {
    const catraca = await openPatiently({ store: 'memory:' })
    await catraca.close()
    const ask = await FRAMEWORKS['fetch handlers']!(t, {
      revokedTokens: { catraca, claims: () => ({ jti: 'a' }) },
    })
    assert.equal((await ask()).status, 503)
  })
})
