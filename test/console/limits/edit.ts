import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { openConsole } from '../../support/console.js'

const SYSTEM = { level: 'system', resource: 'chat' } as const
const ENTITY = { level: 'entity', identifier: 'tenant:1', resource: 'chat' } as const
const BASE = {
  limits: { requests: { capacity: 100, burst: 200, refillPeriodSeconds: 60 } },
  onUnavailable: 'allow',
} as const

const preview = (page: Page) => page.getByRole('button', { name: 'Preview the change' })
const save = (page: Page) => page.getByRole('dialog').getByRole('button', { name: 'Save the change' })

describe('the form of limits', () => {
  it('shows what is inherited, and the difference before it is saved', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { limits } = server.catraca
    await limits.setConfig(SYSTEM, BASE)
    const over = { limits: { requests: { burst: 300 } } }
    await limits.setConfig({ level: 'resource', resource: 'chat' }, over)
    await visit('/limits/entities/tenant%3A1/chat')
    await page.getByRole('link', { name: 'Add an override' }).click()
    await page.getByRole('button', { name: 'Override requests' }).click()
    const card = page.locator('.limit-card', { hasText: 'requests' })
    assert.equal(await card.getByLabel('Burst').getAttribute('placeholder'), '300 (resource)')
    assert.equal(await card.getByLabel('Capacity').getAttribute('placeholder'), '100 (system)')
    assert.equal(
      await card.getByLabel('Refill amount').getAttribute('placeholder'),
      'same as capacity (default)',
    )
    assert.equal(await card.getByLabel('Mode').locator('option').first().textContent(), 'enforce (default)')
    await page.getByText('let pass (system)').waitFor({ state: 'attached' })
    await card.getByLabel('Capacity').fill('many')
    await preview(page).click()
    await card.getByText('A whole number from 1, or empty.').waitFor()
    await assertAccessible()
    await card.getByLabel('Capacity').fill('10')
    await card.getByLabel('Burst').fill('5')
    await preview(page).click()
    await save(page).click()
    await page.getByRole('dialog').getByText('must not be below capacity').first().waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Back to the form' }).click()
    await card.getByText('must not be below capacity').waitFor()
    await card.getByLabel('Burst').fill('20')
    // Another page in between loses nothing.
    await page.locator('nav a', { hasText: 'Settings' }).click()
    await page.getByText('Your changes are not saved. They are kept').waitFor()
    await page.goBack()
    await page.getByText('Your unsaved changes are back.').waitFor()
    assert.equal(await card.getByLabel('Burst').inputValue(), '20')
    await preview(page).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('100 every 1 min, bursts to 300').waitFor()
    await dialog.getByText('10 every 1 min, bursts to 20').waitFor()
    const row = dialog.locator('tbody tr', { hasText: 'Burst' })
    assert.deepEqual(await row.locator('td').allInnerTexts(), [
      'requests Burst',
      'inherited: 300 (resource)',
      '20',
    ])
    await assertAccessible()
    await save(page).click()
    await page.getByText('20 of 20').waitFor()
    assert.deepEqual(await limits.getConfig(ENTITY), { limits: { requests: { capacity: 10, burst: 20 } } })
  })

  it('makes a configuration from a preset, on the level that was chosen', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    await visit('/limits')
    await page.getByRole('link', { name: 'New configuration' }).click()
    await page.getByLabel('System').check()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Fill this in.').waitFor()
    await page.getByRole('combobox', { name: 'Resource' }).fill('CreateEntry')
    await page.getByLabel('Start from').selectOption('CreateEntry')
    await page.getByText('1,000 in each fixed window of 1 h').waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('When the store does not answer').selectOption('block')
    await page.getByLabel('Strict version').selectOption('true')
    await preview(page).click()
    await save(page).click()
    await page.getByRole('region', { name: 'System level' }).getByText('perHour').waitFor()
    const config = await server.catraca.limits.getConfig({ level: 'system', resource: 'CreateEntry' })
    assert.equal(config?.limits.perHour?.capacity, 1000)
    assert.equal(config?.onUnavailable, 'block')
    assert.equal(config?.strictVersion, true)
  })

  it('says when another changed it meanwhile, and when nothing changes', async (t) => {
    const { page, server, visit } = await openConsole(t)
    const { limits } = server.catraca
    await limits.setConfig(SYSTEM, BASE)
    await visit('/limits/resources/chat/edit/system')
    await page.getByLabel('Capacity').fill('150')
    await limits.setConfig(SYSTEM, { limits: { requests: { capacity: 120, refillPeriodSeconds: 60 } } })
    await preview(page).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Somebody changed this configuration').waitFor()
    await dialog.getByText('120 every 1 min, bursts to 120').waitFor()
    await limits.setConfig(SYSTEM, BASE)
    await page.getByRole('button', { name: 'Back to the form' }).click()
    await page.getByLabel('Capacity').fill('100')
    await preview(page).click()
    await dialog.getByText('Nothing changes.').waitFor()
    assert.ok(await save(page).isDisabled())
  })

  it('shows an injected name as text', async (t) => {
    const { page, server, visit } = await openConsole(t)
    await server.catraca.limits.setConfig(SYSTEM, BASE)
    await visit(`/limits/resources/${encodeURIComponent('<img src=x onerror=alert(1)>')}`)
    await page.getByRole('heading', { level: 1, name: '<img src=x onerror=alert(1)>' }).waitFor()
    await page.getByText('must be 1 to 256 characters').first().waitFor()
    assert.equal(await page.locator('main img').count(), 0)
  })
})
