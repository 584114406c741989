import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsole } from '../../support/console.js'

const HOUR_MS = 3_600_000

describe('the page of idempotency', () => {
  it('shows what became of a request, and forgets it when told twice', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { idempotency } = server.catraca
    // Nobody extends this claim.
    await idempotency.begin({ operation: 'PRODUCE', key: 'order-0', payload: {}, leaseMs: 100 })
    await idempotency.run({ operation: 'PRODUCE', key: 'order-1', payload: {} }, () => ({ paid: true }))
    const begun = await idempotency.begin({
      operation: 'PRODUCE',
      key: 'order-2',
      payload: {},
      leaseMs: HOUR_MS / 2,
    })
    assert.equal(begun.outcome, 'claimed')
    const once = { operation: 'PRODUCE', key: 'order-3', payload: {}, onLeaseExpired: 'unknown' } as const
    await idempotency.begin({ ...once, leaseMs: 100 })
    const work = () => ({ amount: 1n })
    await assert.rejects(idempotency.run({ operation: 'PRODUCE', key: 'order-4', payload: {} }, work))
    await visit('/idempotency')
    await page.getByRole('button', { name: 'Look up' }).click()
    assert.equal(await page.getByText('Fill this in.').count(), 2)
    await page.getByLabel('Operation').fill('PRODUCE')
    await page.getByLabel('Idempotency key').fill('order-1')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Completed').waitFor()
    await page.getByText('Recorded answer').click()
    await page.getByText('"paid":true').waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Forget the record' }).click()
    await page.getByRole('dialog').getByText('done again').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Forget the record' }).click()
    await page.getByText('No record').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Forget the record' }).count(), 0)
    assert.equal(await idempotency.get({ operation: 'PRODUCE', key: 'order-1' }), undefined)
    await page.getByLabel('Idempotency key').fill('order-0')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Claim ended', { exact: true }).waitFor()
    await page.getByText('Nobody works on it any more').waitFor()
    await page.getByRole('button', { name: 'Forget the record' }).click()
    await page.getByRole('dialog').getByText('did not say how it ended').waitFor()
    await page.getByLabel('Type order-0 to confirm').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByLabel('Idempotency key').fill('order-3')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Outcome unknown', { exact: true }).waitFor()
    await page.getByText('refused until this record expires or is forgotten').waitFor()
    await page.getByText('nobody may claim it again').waitFor()
    assert.equal(await page.getByText('may be claimed again').count(), 0)
    await assertAccessible()
    await page.getByLabel('Idempotency key').fill('order-4')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('cannot be written as JSON').waitFor()
    await page.getByLabel('Idempotency key').fill('order-2')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('In progress').waitFor()
    await page.getByRole('button', { name: 'Forget the record' }).click()
    const forget = page.getByRole('dialog').getByRole('button', { name: 'Forget the record' })
    assert.ok(await forget.isDisabled(), 'work under way needs the key typed')
    await page.getByLabel('Type order-2 to confirm').fill('order-2')
    await forget.click()
    await page.getByText('No record').waitFor()
  })

  it('goes by the clock of the server, as all pages do', async (t) => {
    const { page, server, visit } = await openConsole(t)
    const { idempotency, allowlists } = server.catraca
    const inHalfAnHour = Date.now() + HOUR_MS / 2
    const ramp = [{ at: inHalfAnHour, percentage: 1 }]
    await idempotency.begin({ operation: 'PRODUCE', key: 'order-1', payload: {}, leaseMs: HOUR_MS / 2 })
    await allowlists.create({
      id: 'wave',
      name: 'Wave',
      type: 'ONDA',
      config: { strategy: 'PERCENTAGE', percentage: 0.25, ramp },
    })
    await visit('/settings')
    const ahead = await page.context().newPage()
    await ahead.addInitScript(`{ const now = Date.now; Date.now = () => now() + ${HOUR_MS} }`)
    await ahead.goto(`${server.url}/console/idempotency`)
    await ahead.getByLabel('Operation').fill('PRODUCE')
    await ahead.getByLabel('Idempotency key').fill('order-1')
    await ahead.getByRole('button', { name: 'Look up' }).click()
    await ahead.getByText('Claimed until').waitFor()
    await ahead.getByText('In progress', { exact: true }).waitFor()
    await ahead.goto(`${server.url}/console/allowlists/wave`)
    await ahead.getByText(/^100% from /).waitFor()
    await ahead.locator('nav a', { hasText: 'Allowlists' }).click()
    await ahead.getByRole('row', { name: /Wave.*25%/ }).waitFor()
  })
})

describe('the page of locks', () => {
  it('shows that a lock is held, and takes it away when its name is typed', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const taken = await server.catraca.locks.acquire('claim:abc', { ttlMs: 60_000 })
    assert.ok(taken)
    await visit('/locks')
    await page.getByLabel('Name of the lock').fill('claim:abc')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Held', { exact: true }).waitFor()
    await page.getByText(String('fence' in taken && taken.fence), { exact: true }).waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Take the lock away' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Type claim:abc to confirm').fill('claim:abc')
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Take the lock away' }).click()
    await page.getByText('Free', { exact: true }).waitFor()
    assert.equal((await server.catraca.locks.status('claim:abc')).held, false)
  })

  it('offers that to admins alone', async (t) => {
    const { page, server, visit } = await openConsole(t, { scopes: ['locks'] })
    await server.catraca.locks.acquire('claim:abc', { ttlMs: 60_000 })
    await visit('/locks')
    await page.getByLabel('Name of the lock').fill('claim:abc')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Held', { exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Take the lock away' }).count(), 0)
    assert.equal(await page.locator('nav a', { hasText: 'One-time codes' }).count(), 0)
  })
})

describe('the page of one-time codes', () => {
  it('shows whether a code is under way, never the code, and revokes it', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const issued = await server.catraca.codes.issue({ channel: 'email', address: 'ana@example.com' })
    const code = 'code' in issued ? issued.code : ''
    assert.match(code, /^\d{6}$/)
    await visit('/codes')
    await page.getByLabel('Address').fill('Ana@Example.com')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('A code is under way', { exact: true }).waitFor()
    await assertAccessible()
    assert.ok(!(await page.content()).includes(code), 'the code is on the page')
    assert.ok(!page.url().includes('ana'), 'the address is in the URL')
    await page.getByRole('button', { name: 'Revoke code and lift lock' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke code and lift lock' }).click()
    await page.getByText('No code under way', { exact: true }).waitFor()
    const verified = await server.catraca.codes.verify({ channel: 'email', address: 'ana@example.com', code })
    assert.equal(verified.valid, false)
  })
})

describe('the page of tokens', () => {
  it('revokes one token, and all of a subject', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    await visit('/tokens')
    const look = async (kind: string, id: string) => {
      await page.getByLabel('What').selectOption(kind)
      await page.getByLabel('Id', { exact: true }).fill(id)
      await page.getByRole('button', { name: 'Look up' }).click()
    }
    const revoke = async () => {
      await page.getByText('Not revoked').waitFor()
      await page.getByRole('button', { name: 'Revoke', exact: true }).click()
      await assertAccessible()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
      await page.getByText('Revoked', { exact: true }).waitFor()
    }
    await look('token', 'jti-1')
    await revoke()
    const { tokens } = server.catraca
    assert.equal(await tokens.isRevoked({ jti: 'jti-1' }), true)
    await look('subject', 'user-7')
    await revoke()
    await page.getByText('Tokens issued before').waitFor()
    const old = { jti: 'jti-2', subject: 'user-7', issuedAt: new Date(0).toISOString() }
    assert.equal(await tokens.isRevoked(old), true)
  })
})
