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
    await page.locator('.record', { hasText: 'First seen' }).waitFor()
    await page.getByRole('region', { name: 'PRODUCE order-1' }).getByText('Completed').waitFor()
    await page.getByText('Recorded answer', { exact: true }).click()
    await page.getByText('"paid":true').waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Forget the record' }).click()
    await page.getByRole('dialog').getByText('will run again').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Forget the record' }).click()
    await page.getByText('No record').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Forget the record' }).count(), 0)
    assert.equal(await idempotency.get({ operation: 'PRODUCE', key: 'order-1' }), undefined)
    await page.getByLabel('Idempotency key').fill('order-0')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page
      .getByRole('region', { name: 'PRODUCE order-0' })
      .getByText('Claim ended', { exact: true })
      .waitFor()
    await page.getByText('The claim ended without a result.').waitFor()
    await page.getByRole('button', { name: 'Forget the record' }).click()
    await page.getByRole('dialog').getByText('may be done, or half done').waitFor()
    await page.getByLabel('Type order-0 to confirm').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByLabel('Idempotency key').fill('order-3')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Outcome unknown', { exact: true }).waitFor()
    await page.getByText('refused until this record expires or is forgotten').waitFor()
    await page.getByText('outcome unknown, no new claim').waitFor()
    assert.equal(await page.getByText('can be claimed again').count(), 0)
    await assertAccessible()
    await page.getByLabel('Idempotency key').fill('order-4')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('cannot be written as JSON').waitFor()
    await page.getByLabel('Idempotency key').fill('order-2')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByRole('region', { name: 'PRODUCE order-2' }).getByText('In progress').waitFor()
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
    await ahead.getByText('Claim ends').waitFor()
    await ahead.getByRole('region', { name: 'PRODUCE order-1' }).getByText('In progress').waitFor()
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
    await page.getByLabel('Lock name').fill('claim:abc')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Held', { exact: true }).waitFor()
    await page
      .locator('.record')
      .getByText(String('fence' in taken && taken.fence))
      .waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Release lock' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input:focus').waitFor()
    await page.keyboard.type('claim:abc')
    assert.equal(await dialog.getByLabel('Type claim:abc to confirm').inputValue(), 'claim:abc')
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Release lock' }).click()
    await page.getByText('Free', { exact: true }).waitFor()
    assert.equal((await server.catraca.locks.status('claim:abc')).held, false)
  })

  it('offers that to admins alone', async (t) => {
    const { page, server, visit } = await openConsole(t, { scopes: ['locks'] })
    await server.catraca.locks.acquire('claim:abc', { ttlMs: 60_000 })
    await visit('/locks')
    await page.getByLabel('Lock name').fill('claim:abc')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Held', { exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Release lock' }).count(), 0)
    assert.equal(await page.locator('nav a', { hasText: 'One-time codes' }).count(), 0)
  })
})

describe('the lists of what the store holds', () => {
  it('find locks by prefix, and release several when their number is typed', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { locks } = server.catraca
    for (const name of ['claim:a', 'claim:b', 'other']) await locks.acquire(name, { ttlMs: HOUR_MS })
    await visit('/locks')
    await page.getByRole('row', { name: /other/ }).waitFor()
    await page.getByLabel('Begins with').fill('claim:')
    await page.getByRole('row', { name: /other/ }).waitFor({ state: 'detached' })
    assert.match(page.url(), /#prefix=claim%3A$/)
    await page.getByLabel('Age', { exact: true }).selectOption('3600')
    await page.getByText('No lock is held.').waitFor()
    await page.getByLabel('Age', { exact: true }).selectOption('')
    await page.getByRole('button', { name: 'Select all (2)' }).click()
    await page.getByText('2 selected').waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Release', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Release 2 locks?').waitFor()
    const release = dialog.getByRole('button', { name: 'Release', exact: true })
    assert.ok(await release.isDisabled())
    await dialog.getByLabel('Type 2 to confirm').fill('2')
    await dialog.getByLabel('Reason').fill('pods are gone')
    await release.click()
    await page.getByText('No lock is held.').waitFor()
    assert.equal((await locks.status('claim:a')).held, false)
    assert.equal((await locks.status('other')).held, true)
    const { items } = await server.catraca.audit.list({ action: 'lock.break' })
    assert.deepEqual(
      items.map(({ reason }) => reason),
      ['pods are gone', 'pods are gone'],
    )
  })

  it('find records whose claim has ended, and lead to one', async (t) => {
    const { page, server, visit, assertAccessible, complaints } = await openConsole(t, {
      scopes: ['admin'],
    })
    const { idempotency } = server.catraca
    await idempotency.begin({ operation: 'PRODUCE', key: 'stuck', payload: {}, leaseMs: 100 })
    await idempotency.run({ operation: 'PRODUCE', key: 'done', payload: {} }, () => ({ paid: true }))
    await visit('/idempotency')
    await page.getByRole('row', { name: /PRODUCE done Completed/ }).waitFor()
    await page.getByLabel('State', { exact: true }).selectOption('ENDED')
    await page.getByRole('row', { name: /PRODUCE stuck claim ended \d+ seconds? ago/ }).waitFor()
    await page.getByRole('row', { name: /PRODUCE done/ }).waitFor({ state: 'detached' })
    await assertAccessible()
    await page.getByRole('button', { name: 'PRODUCE stuck' }).click()
    await page.getByText('The claim ended without a result.').waitFor()
    assert.match(page.url(), /operation=PRODUCE&key=stuck/)
    // What is forgotten leaves the list at once, not with its next question: that one never comes here.
    await page.evaluate(
      'const later = setTimeout; setTimeout = (work, ms, ...given) => (ms === 5000 ? 0 : later(work, ms, ...given))',
    )
    await page.getByLabel('State', { exact: true }).selectOption('')
    await page.getByRole('row', { name: /PRODUCE done/ }).waitFor()
    await page.getByRole('row', { name: /PRODUCE stuck/ }).waitFor()
    await page.getByRole('button', { name: 'Forget the record' }).click()
    await page.getByRole('dialog').getByLabel('Type stuck to confirm').fill('stuck')
    await page.getByRole('dialog').getByRole('button', { name: 'Forget the record' }).click()
    await page.getByText('No record: the request was never seen').waitFor()
    await page.getByRole('row', { name: /PRODUCE stuck/ }).waitFor({ state: 'detached' })
    // The browser complains of the record that is not found.
    complaints.length = 0
  })

  it('show the keys of a cache space, never their values, and delete them', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, {
      scopes: ['admin'],
      open: { cache: { spaces: [{ name: 'prices', ttlMs: HOUR_MS }] } },
    })
    const space = server.catraca.cache.space<string>({ name: 'prices', ttlMs: HOUR_MS })
    await space.set('sku-1', 'a-value-that-nobody-shows')
    await visit('/cache')
    await page.getByText('Choose a space to see its keys.').waitFor()
    await page.getByRole('combobox', { name: 'Space' }).fill('prices')
    await page.getByRole('row', { name: /sku-1/ }).waitFor()
    assert.ok(!(await page.content()).includes('a-value-that-nobody-shows'))
    await page.keyboard.press('Tab')
    await page.getByRole('option').first().waitFor({ state: 'hidden' })
    await assertAccessible()
    await page.getByRole('checkbox', { name: 'Select sku-1' }).check()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByLabel('Type 1 to confirm').fill('1')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Nothing found.').waitFor()
    assert.equal(await space.get('sku-1'), undefined)
  })
})

describe('the page of one-time codes', () => {
  it('shows whether a code is under way, never the code, and revokes it', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const issued = await server.catraca.codes.issue({ channel: 'email', address: 'ana@example.com' })
    const code = 'code' in issued ? issued.code : ''
    assert.match(code, /^\d{6}$/)
    await visit('/codes')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.getByLabel('Address').fill('Ana@Example.com')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Code pending', { exact: true }).waitFor()
    await assertAccessible()
    assert.ok(!(await page.content()).includes(code), 'the code is on the page')
    // It is behind `#`, for colleagues: browsers do not send that.
    assert.match(page.url(), /#channel=email&address=Ana%40Example.com$/)
    assert.deepEqual(
      asked.filter((url) => /example/i.test(url)),
      [],
      'the e-mail was sent in a URL',
    )
    await page.reload()
    await page.getByText('Code pending', { exact: true }).waitFor()
    assert.equal(await page.getByLabel('Address').inputValue(), 'Ana@Example.com')
    await page.getByRole('button', { name: 'Revoke code and lift lock' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke code and lift lock' }).click()
    await page.getByText('No pending code', { exact: true }).waitFor()
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
