import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { makeCursor } from '../../../src/core/paging.js'
import { boundAt } from '../../../src/guards/audit/entry-id.js'
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
    await page
      .getByRole('row', { name: /tester changed Very important, name “<b>VIP<\/b>” → “Very important”/ })
      .waitFor()
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
      .getByRole('row', { name: /tester paused Wave, 5% → 0%/ })
      .getByRole('button')
      .click()
    const share = page.getByRole('dialog').getByRole('row', { name: /^Share of customers/ })
    assert.match((await share.textContent())!, /5%0%$/)
    await page.keyboard.press('Escape')
    await page
      .getByRole('row', { name: /tester created Wave/ })
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
    await onlyRow.filter({ hasText: /tester created vip/ }).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as CSV' }).click(),
    ])
    const rows = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n')
    assert.equal(rows.length, 2)
    assert.match(rows[1]!, /^20.*,key:tester,allowlist\.create,allowlist:vip,/)
    await page.getByRole('button', { name: 'Show all: allowlist:vip' }).click()
    await page.getByRole('combobox', { name: 'Thing' }).fill('ET')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await onlyRow.filter({ hasText: /tester created beta/ }).waitFor()
    await page.getByRole('combobox', { name: 'Thing' }).fill('')
    await page.getByLabel('What').selectOption('key.create')
    await onlyRow.filter({ hasText: /created the key tester/ }).waitFor()
    // By person and day, without any syntax.
    await page.getByLabel('What').selectOption('')
    await page.getByRole('combobox', { name: 'Person' }).fill('test')
    await page.getByRole('option', { name: 'tester' }).click()
    await page.locator('tbody tr').nth(1).waitFor()
    // By keys, one day after the other: each applies at once, and the choice keeps the focus.
    await page.getByLabel('Day').focus()
    await page.keyboard.press('ArrowDown')
    await page.waitForURL(/actor=tester&from=\d{4}-\d{2}-\d{2}T/)
    await page.locator('tbody tr').nth(1).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.getByText('No change matches.').waitFor()
    assert.equal(await page.getByLabel('Day').inputValue(), 'yesterday')
    await page.getByLabel('Day').selectOption('')
    await page.getByRole('combobox', { name: 'Thing' }).fill('nobody')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('No change matches.').waitFor()
    // As behind some thousand entries that do not match.
    const nextCursor = makeCursor(boundAt(Date.now() + 60_000))
    const empty = { json: { items: [], nextCursor } }
    await page.route('**/audit?*', (route) => route.fulfill(empty), { times: 1 })
    await visit('/allowlists/vip')
    await page.locator('.entry-list li', { hasText: 'created' }).waitFor()
  })

  for (const language of ['en', 'pt-BR']) {
    it(`has a name for every action in ${language}`, () => {
      const texts = readFileSync(`console/src/texts/${language}/audit.ts`, 'utf8')
      for (const action of AUDIT_ACTIONS) assert.ok(texts.includes(`'${action}': '`), action)
    })
  }
})
