import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ManualClock } from '../../src/core/clock.js'
import type { Session } from '../../src/guards/access/sessions/index.js'
import { People } from '../../src/server/access/sign-in/people.js'
import type { Renewal } from '../../src/server/access/sign-in/provider.js'
import { Renewals, sealTokens } from '../../src/server/access/sign-in/renewals.js'
import { Seal } from '../../src/server/access/sign-in/seal.js'
import { signInSettings } from '../../src/server/access/sign-in/settings.js'
import { ROLES } from '../support/oidc.js'
import { openPatiently } from '../support/patient.js'

it('one process renews a session, and the others wait, though each answer of the provider takes long', async () => {
  const clock = new ManualClock(1_900_000_000_000)
  const { sessions, close } = await openPatiently({ store: 'memory:', clock })
  try {
    const settings = signInSettings({
      ...{ issuer: 'https://login.example.com', clientId: 'c', baseUrl: 'https://catraca.example.com' },
      ...{ roles: ROLES, secret: () => 'a secret of at least 32 characters, for tests' },
    })
    const seal = new Seal(settings.secret, [])
    const now = clock.now()
    const session: Session = {
      ...{ id: 'one', subject: 'ann', name: 'ann', roles: ['platform'], createdAt: now, usedAt: now },
      ...{ endsAt: now + 3_600_000, dueAt: now, sealed: sealTokens(seal, 'one', { refresh: 'r' }) },
    }
    await sessions.open('ann', session, 1)
    const waiting: ((renewal: Renewal) => void)[] = []
    const provider = { renew: () => new Promise<Renewal>((resolve) => waiting.push(resolve)) }
    const parts = { sessions, provider, people: new People(settings), seal, settings, report: () => {} }
    const first = new Renewals(parts).renewed('ann', session)
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
    // Its description, tokens, keys and claims, each at the last moment.
    clock.advance(4 * settings.timeoutMs)
    const second = new Renewals(parts).renewed('ann', session)
    const claims = { groups: ['platform'] }
    const confirmed = { subject: 'ann', claims, tokens: { refresh: 's' }, lifeMs: undefined }
    // The second one reads the store again and again, so it would have asked by then.
    await new Promise((resolve) => setTimeout(resolve, 200))
    assert.equal(waiting.length, 1)
    waiting[0]!({ confirmed })
    for (const renewed of await Promise.all([first, second])) {
      assert.equal((renewed as Session).dueAt, clock.now() + settings.confirmMs)
    }
  } finally {
    await close()
  }
})
