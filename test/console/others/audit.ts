import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { AUDIT_ACTIONS } from '../../../src/audit/types.js'
import { bearer } from '../../server/support.js'
import { openConsole } from '../../support/console.js'

describe('the audit page', () => {
  it('tells who changed what, from what to what', async (t) => {
    const { page, server, key, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const headers = bearer(key!)
    const body = { id: 'vip', name: '<b>VIP</b>', type: 'FIXA' }
    assert.equal((await server.call('POST', '/allowlists', { headers, body })).status, 201)
    const change = { headers, body: { name: 'Very important' } }
    assert.equal((await server.call('PATCH', '/allowlists/vip', change)).status, 200)
    await visit('/audit')
    await page.getByRole('row', { name: /tester.*Allowlist changed.*vip/ }).waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Show details of allowlist.update vip' }).click()
    const name = page.getByRole('dialog').getByRole('row', { name: /^name/ })
    assert.match((await name.textContent())!, /<b>VIP<\/b>Very important/)
    await assertAccessible()
  })

  it('finds by what was changed, by whom, and how', async (t) => {
    const { page, server, key, visit } = await openConsole(t, { scopes: ['admin'] })
    for (const id of ['vip', 'beta']) {
      const body = { id, name: id, type: 'FIXA' }
      await server.call('POST', '/allowlists', { headers: bearer(key!), body })
    }
    await visit('/audit?target=allowlist:vip')
    await page.getByRole('row', { name: /Allowlist created.*vip/ }).waitFor()
    assert.equal(await page.locator('tbody tr').count(), 1)
    await page.getByLabel('On').fill('')
    await page.getByLabel('What').selectOption('key.create')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByRole('row', { name: /API key created.*tester/ }).waitFor()
    assert.equal(await page.locator('tbody tr').count(), 1)
    await page.getByLabel('Who').fill('nobody')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('No change matches.').waitFor()
  })

  for (const language of ['en', 'pt-BR']) {
    it(`has a name for every action in ${language}`, () => {
      const texts = readFileSync(`console/src/texts/${language}/audit.ts`, 'utf8')
      for (const action of AUDIT_ACTIONS) assert.ok(texts.includes(`'${action}': '`), action)
    })
  }
})
