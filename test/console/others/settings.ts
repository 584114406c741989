import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bearer, until } from '../../server/support.js'
import { openConsole } from '../../support/console.js'

describe('API keys in the settings', () => {
  it('are made, shown once, and revoked after a question', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, {
      scopes: ['admin'],
      server: { keyRefreshMs: 20 },
    })
    await visit('/settings')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('For').selectOption('monitor')
    for (const scope of ['read', 'check'])
      assert.ok(await dialog.getByRole('checkbox', { name: scope, exact: true }).isChecked(), scope)
    await dialog.getByRole('checkbox', { name: 'read', exact: true }).uncheck()
    assert.equal(await dialog.getByLabel('For').inputValue(), 'checks')
    await dialog.getByLabel('Name').fill('check out')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByLabel('Name').and(page.locator('[aria-invalid=true]:focus')).waitFor()
    await assertAccessible()
    await dialog.getByLabel('Name').fill('checkout')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const key = (await dialog.getByTestId('new-key').textContent())!
    assert.match(key, /^ctr_/)
    const status = async () => (await server.call('GET', '/session', { headers: bearer(key) })).status
    assert.equal(await status(), 200)
    await dialog.getByRole('button', { name: 'I have copied it' }).click()
    const row = page.getByRole('row', { name: /checkout/ })
    await row.waitFor()
    assert.ok(!(await page.content()).includes(key))
    await row.getByRole('button', { name: 'Revoke checkout' }).click()
    await page.getByText('are refused within 5 seconds').waitFor()
    await assertAccessible()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await status(), 200)
    await row.getByRole('button', { name: 'Revoke checkout' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    await until('the key is refused', async () => (await status()) === 401)
  })

  it('tell who made them and when they were used, and get other scopes and an end', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, {
      scopes: ['admin'],
      server: { keyRefreshMs: 20 },
    })
    const { key } = await server.catraca.keys.create({ name: 'app', scopes: ['check'] })
    const status = async () =>
      (await server.call('GET', '/customers/a/check?allowlists=x', { headers: bearer(key) })).status
    await until('the key is known', async () => (await status()) === 200)
    await until('its use is recorded', async () => {
      const [app] = await server.catraca.keys.list()
      return app!.usedAt !== undefined
    })
    await visit('/settings')
    const row = page.getByRole('row', { name: /app/ })
    await row.getByText('by library').waitFor()
    await row.getByText(/now|second|minute/).waitFor()
    await row.getByText('never').waitFor()
    await row.getByRole('button', { name: 'Edit app' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('For').selectOption('monitor')
    await dialog.getByLabel('Expires').selectOption('90')
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await row.getByText('read', { exact: true }).waitFor()
    const [app] = await server.catraca.keys.list()
    assert.deepEqual(app!.scopes.toSorted(), ['check', 'read'])
    const days = (Date.parse(app!.expiresAt!) - Date.now()) / 86_400_000
    assert.ok(days > 89 && days < 91, String(days))
    await row.getByRole('button', { name: 'Edit app' }).click()
    await dialog.getByLabel('Expires').selectOption('never')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row.getByText('never').waitFor()
  })

  it('lock the server with the first one, and its maker goes on with it', async (t) => {
    const { page, server, visit } = await openConsole(t)
    await visit('/settings')
    await page.getByText('No keys yet').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The first key: from now on').waitFor()
    const admin = dialog.getByRole('checkbox', { name: 'admin' })
    assert.ok((await admin.isChecked()) && (await admin.isDisabled()), 'its maker must not be locked out')
    await dialog.getByLabel('Name').fill('first')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByTestId('new-key').waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await dialog.getByTestId('new-key').count(), 1, 'shown once, until it is copied')
    await dialog.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.getByRole('row', { name: /first/ }).waitFor()
    assert.equal((await server.call('GET', '/keys')).status, 401)
  })

  it('are not shown to keys that may not administer', async (t) => {
    const { page, visit } = await openConsole(t, { scopes: ['read'] })
    await visit('/settings')
    await page.getByRole('heading', { name: 'Appearance' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'API keys' }).count(), 0)
  })
})
