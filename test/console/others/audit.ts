import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { boundAt } from '../../../src/guards/audit/entry-id.js'
import { makeCursor } from '../../../src/guards/audit/filter.js'
import { AUDIT_ACTIONS } from '../../../src/guards/audit/types.js'
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
    const name = page.getByRole('dialog').getByRole('row', { name: /^Name/ })
    assert.match((await name.textContent())!, /<b>VIP<\/b>Very important/)
    await assertAccessible()
    await page.keyboard.press('Escape')
    const config = { strategy: 'PERCENTAGE', percentage: 0.05, endTime: Date.UTC(2040, 5, 15, 12) }
    const wave = { id: 'wave', name: 'Wave', type: 'ONDA', config }
    assert.equal((await server.call('POST', '/allowlists', { headers, body: wave })).status, 201)
    assert.equal((await server.call('POST', '/allowlists/wave/pause', { headers })).status, 200)
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page
      .getByRole('row', { name: /tester.*Wave paused.*wave/ })
      .getByRole('button')
      .click()
    const share = page.getByRole('dialog').getByRole('row', { name: /^Share of customers/ })
    assert.match((await share.textContent())!, /5%0%$/)
    await page.keyboard.press('Escape')
    await page
      .getByRole('row', { name: /Allowlist created.*wave/ })
      .getByRole('button')
      .click()
    const end = page.getByRole('dialog').getByRole('row', { name: /^Closes/ })
    assert.match((await end.textContent())!, /Jun 15, 2040/)
  })

  it('finds by what was changed, by whom, and how', async (t) => {
    const { page, server, key, visit } = await openConsole(t, { scopes: ['admin'] })
    for (const id of ['vip', 'beta']) {
      const body = { id, name: id, type: 'FIXA' }
      await server.call('POST', '/allowlists', { headers: bearer(key!), body })
    }
    // The page shows the earlier rows until the answer has come.
    const onlyRow = page.locator('tbody tr:only-child')
    await visit('/audit?target=allowlist:vip')
    await onlyRow.filter({ hasText: /Allowlist created.*vip/ }).waitFor()
    await page.getByRole('button', { name: 'Show all: allowlist:vip' }).click()
    await page.getByLabel('Search').fill('ET')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await onlyRow.filter({ hasText: /Allowlist created.*beta/ }).waitFor()
    await page.getByLabel('Search').fill('')
    await page.getByLabel('What').selectOption('key.create')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await onlyRow.filter({ hasText: /API key created.*tester/ }).waitFor()
    await page.getByLabel('Search').fill('nobody')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('No change matches.').waitFor()
    // As behind some thousand entries that do not match.
    const nextCursor = makeCursor(boundAt(Date.now() + 60_000))
    const empty = { json: { items: [], nextCursor } }
    await page.route('**/audit?*', (route) => route.fulfill(empty), { times: 1 })
    await visit('/allowlists/vip')
    await page.getByRole('row', { name: /Allowlist created/ }).waitFor()
  })

  for (const language of ['en', 'pt-BR']) {
    it(`has a name for every action in ${language}`, () => {
      const texts = readFileSync(`console/src/texts/${language}/audit.ts`, 'utf8')
      for (const action of AUDIT_ACTIONS) assert.ok(texts.includes(`'${action}': '`), action)
    })
  }
})
