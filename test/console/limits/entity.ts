import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsole } from '../../support/console.js'

const LIMITS = {
  limits: {
    requests: { capacity: 3, refillPeriodSeconds: 3600, algorithm: 'fixed-window' as const },
    tokens: { capacity: 1000, refillPeriodSeconds: 86_400, algorithm: 'fixed-window' as const },
  },
}
const PAGE = '/limits/entities/tenant%3A1/chat'

describe('the page of an entity', () => {
  it('shows what holds with its levels, and what is left, live and without chatter', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { limits } = server.catraca
    await limits.setConfig({ level: 'system', resource: 'chat' }, LIMITS)
    await limits.setConfig({ level: 'resource', resource: 'chat' }, { limits: { tokens: { capacity: 500 } } })
    const own = { limits: { requests: { capacity: 5 } } }
    await limits.setConfig({ level: 'entity', identifier: 'tenant:1', resource: 'chat' }, own)
    await visit(PAGE)
    const row = page.locator('.effective tbody tr', { hasText: 'requests' })
    await row.waitFor()
    const [capacity, time, , , , mode] = await row.locator('td').allInnerTexts()
    assert.match(capacity!, /^5\s+entity$/)
    assert.match(time!, /^1 h\s+system$/)
    assert.match(mode!, /^enforce\s+default$/)
    const meter = page.getByRole('meter', { name: 'requests' })
    assert.equal(await meter.getAttribute('aria-valuetext'), '5 of 5')
    assert.equal(await page.locator('[aria-live] .meters, [role=status] .meters').count(), 0)
    await limits.acquire({ entity: 'tenant:1', resource: 'chat', consume: { requests: 4, tokens: 10 } })
    await page.getByText('1 of 5').waitFor()
    await page.getByText('490 of 500').waitFor()
    await page
      .getByText(/full again in \d+/)
      .first()
      .waitFor()
    await assertAccessible()
  })

  it('takes one, says what is violated, gives back, and resets', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { limits } = server.catraca
    await limits.setConfig({ level: 'system', resource: 'chat' }, LIMITS)
    await visit(PAGE)
    const take = page.getByRole('button', { name: 'Acquire', exact: true })
    await page.getByLabel('Cost of tokens').fill('x')
    await take.click()
    await page.getByText('A whole number from 0.').waitFor()
    await page.getByLabel('Cost of tokens').fill('100')
    await take.click()
    await page.getByText('Consumed from every limit.').waitFor()
    await page.getByText('900 of 1,000').waitFor()
    await page.getByRole('button', { name: 'Give it back' }).click()
    await page.getByText('1,000 of 1,000').waitFor()
    await page.getByLabel('Cost of requests').fill('3')
    await take.click()
    await page.getByText('0 of 3').waitFor()
    await take.click()
    const answer = page.locator('.try-answer')
    await answer.getByText('Denied').waitFor()
    await answer.locator('.violations', { hasText: 'requests' }).waitFor()
    await answer.getByText(/Can pass in \d+/).waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Reset' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('tenant:1 gets its full limits of').waitFor()
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Reset' }).click()
    await page.getByText('3 of 3').waitFor()
    assert.equal((await limits.status('tenant:1', 'chat')).limits.requests?.remaining, 3)
  })

  it('shows usage by hour and day, admitted and denied', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { limits } = server.catraca
    await limits.setConfig({ level: 'system', resource: 'chat' }, LIMITS)
    await visit(PAGE)
    await page.getByText('Nothing was admitted or denied').waitFor()
    for (let i = 0; i < 5; i++) {
      await limits.acquire({ entity: 'tenant:1', resource: 'chat', consume: { requests: 1 } })
    }
    await page.reload()
    const summary = page.getByRole('img', { name: /^requests\. admitted: .* and 3\. denied: .* and 2\./ })
    await summary.waitFor()
    await page.getByText('Last 31 days').click()
    await summary.waitFor()
    await page.locator('.chart summary').first().click()
    const today = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', timeZone: 'UTC' })
    const last = page.locator('.chart tbody tr').last()
    assert.deepEqual(await last.locator('td').allInnerTexts(), [today.format(new Date()), '3', '2'])
    await assertAccessible()
  })

  it('sets, changes and removes the parent', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { limits } = server.catraca
    await limits.setConfig({ level: 'system', resource: 'chat' }, LIMITS)
    await visit(PAGE)
    const panel = page.getByRole('region', { name: 'Parent' })
    await panel.getByRole('button', { name: 'Set a parent' }).click()
    await panel.getByLabel('Parent entity').fill('tenant:1')
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByText('must be another entity').first().waitFor()
    await assertAccessible()
    await panel.getByLabel('Parent entity').fill('group:a')
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByRole('link', { name: 'group:a' }).waitFor()
    assert.deepEqual(await limits.getEntity('tenant:1'), { parent: 'group:a', cascade: true })
    await page.getByRole('button', { name: 'Acquire', exact: true }).click()
    await page.getByText('and from the parent group:a').waitFor()
    await panel.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByText('no longer consume from group:a').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await panel.getByText('This entity has no parent.').waitFor()
    assert.equal(await limits.getEntity('tenant:1'), undefined)
  })

  it('says when no level configures anything', async (t) => {
    const { page, visit, assertAccessible } = await openConsole(t, { browser: { locale: 'pt-BR' } })
    await visit('/limits/entities/ana/nothing')
    await page.getByText('Nenhum limite configurado').first().waitFor()
    await assertAccessible()
  })
})
