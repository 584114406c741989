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
    await dialog.getByLabel('Name').fill('check out')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('alert').getByText('INVALID_INPUT').waitFor()
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
    await page.getByText('is refused everywhere within 5 seconds').waitFor()
    await assertAccessible()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await status(), 200)
    await row.getByRole('button', { name: 'Revoke checkout' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    await until('the key is refused', async () => (await status()) === 401)
  })

  it('lock the server with the first one, and its maker goes on with it', async (t) => {
    const { page, server, visit } = await openConsole(t)
    await visit('/settings')
    await page.getByText('No keys yet').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This is the first key').waitFor()
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
