import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsole } from '../../support/console.js'

describe('the overview', () => {
  it('shows what is going on, in figures, charts and tables', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await server.catraca.allowlists.add('vip', 'ana')
    await visit('')
    await page.getByText('All quiet').waitFor()
    await page.locator('summary', { hasText: 'Engines' }).getByText('Healthy').waitFor()
    await page.getByRole('heading', { name: 'Engines' }).click()
    await page.getByText('embedded').waitFor()
    assert.equal(await page.locator('.tile').count(), 5)
    await page.locator('.engine-facts').getByText('Free disk space').waitFor()
    await page.getByText('More charts').click()
    await page.locator('.chart canvas').nth(5).waitFor()
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

  it('says what needs a person, and what to do on an empty server', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await visit('')
    await page.getByRole('link', { name: 'Create a list' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('VIP')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'VIP' }).waitFor()
    const ramp = [{ at: Date.now() + 3_600_000, percentage: 0.25 }]
    const config = { strategy: 'PERCENTAGE', percentage: 0.01, ramp } as const
    for (const id of ['due', 'stopped']) {
      await allowlists.create({
        id,
        name: `Wave ${id}`,
        type: 'ONDA',
        config: { ...config, ramp: [...ramp] },
      })
    }
    await allowlists.pause('stopped')
    await visit('')
    const needs = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
    await needs.filter({ hasText: /Paused Wave stopped/ }).waitFor()
    await needs.filter({ hasText: /Due today Wave due → 25%, in (1 hour|60 minutes|59 minutes)/ }).waitFor()
    assert.equal(await page.getByText('First steps').count(), 0)
    // The changes are sentences, the newest first.
    const changes = page.getByRole('region', { name: 'Last changes' }).getByRole('listitem')
    assert.match((await changes.first().textContent())!, /^library paused Wave stopped, 1% → 0% /)
    await page.getByText('5 min', { exact: true }).click()
    await page.waitForURL(/minutes=5/)
    await assertAccessible()
    await page.unrouteAll()
    await page.route('**/stats/**', (route) => route.abort())
    await page.route('**/health', (route) => route.abort())
    await page.route('**/allowlists?*', (route) => route.abort())
    await page.route('**/audit?*', (route) => route.abort())
    await page.route('**/limits/**', (route) => route.abort())
    await page.route('**/metrics', (route) => route.abort())
    await page.getByText('The server does not answer.').waitFor()
    // Once for the whole page.
    assert.equal(await page.getByRole('alert').count(), 1)
    await page.unrouteAll()
    await page.getByText('The server does not answer.').waitFor({ state: 'detached' })
  })

  it('finds what needs a person among hundreds of waves, whenever it was changed', async (t) => {
    const { page, server, visit } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    const wave = { type: 'ONDA', config: { strategy: 'PERCENTAGE', percentage: 0.5 } } as const
    const ramp = [{ at: Date.now() + 3_600_000, percentage: 0.7 }]
    await allowlists.create({ id: 'stopped', name: 'Wave stopped', ...wave })
    await allowlists.pause('stopped')
    await allowlists.create({ id: 'due', name: 'Wave due', type: 'ONDA', config: { ...wave.config, ramp } })
    for (let i = 0; i < 510; i += 30) {
      const some = Array.from({ length: 30 }, (_, j) => `other-${i + j}`)
      await Promise.all(some.map((id) => allowlists.create({ id, name: id, ...wave })))
    }
    await visit('')
    const needs = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem')
    await needs.filter({ hasText: /Paused Wave stopped/ }).waitFor()
    await needs.filter({ hasText: /Due today Wave due → 70%/ }).waitFor()
  })

  it('says when a server measures nothing', async (t) => {
    const { page, visit } = await openConsole(t, { server: { metrics: false } })
    await visit('')
    await page.getByText('Metrics are switched off').waitFor()
    await page.getByText('Healthy').waitFor()
  })
})
