import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsole } from '../../support/console.js'

describe('the overview', () => {
  it('shows what is going on, in figures, charts and tables', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await server.catraca.allowlists.add('vip', 'ana')
    await visit('')
    await page.getByText('embedded').waitFor()
    await page.getByText('Healthy').first().waitFor()
    assert.equal(await page.locator('.tile').count(), 5)
    await page.locator('.engine-facts').getByText('Free on the disk').waitFor()
    assert.equal(await page.locator('.chart canvas').count(), 6)
    // Checks go on until the first step of the series is over and the page has asked again.
    const checking = setInterval(() => {
      void server.catraca.allowlists.check('ana', ['vip'])
      void server.catraca.allowlists.check('bia', ['vip'])
    }, 20)
    const allowed = page.locator('.tile', { hasText: 'Allowed' }).getByText('50%')
    await allowed.waitFor().finally(() => clearInterval(checking))
    const summary = await page.getByRole('img', { name: /^Checks per second/ }).getAttribute('aria-label')
    assert.match(summary!, /allowed: now [\d.,]+, between/)
    await page.locator('.chart', { hasText: 'Checks per second' }).locator('summary').click()
    await page.locator('.chart tbody tr').first().waitFor()
    await assertAccessible()
  })

  it('says when a server measures nothing', async (t) => {
    const { page, visit } = await openConsole(t, { server: { metrics: false } })
    await visit('')
    await page.getByText('Metrics are switched off').waitFor()
    await page.getByText('embedded').waitFor()
  })
})
