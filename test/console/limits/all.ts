import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catraca } from '../../../src/app/open-catraca.js'
import { openConsole } from '../../support/console.js'

const perMinute = (capacity: number) => ({
  limits: { perMinute: { capacity, refillPeriodSeconds: 60, algorithm: 'fixed-window' as const } },
})

async function setUp({ limits }: Catraca): Promise<void> {
  await limits.setConfig({ level: 'system', resource: 'CreateEntry' }, perMinute(100))
  await limits.setConfig({ level: 'resource', resource: 'GetEntry' }, perMinute(2))
  await limits.setConfig(
    { level: 'entity', identifier: 'tenant:1', resource: 'CreateEntry' },
    { limits: { perMinute: { capacity: 7 } } },
  )
}

describe('the list of limits', () => {
  it('shows resources and entities that have a configuration, and finds them', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    await setUp(server.catraca)
    for (let i = 0; i < 30; i++) {
      const identifier = `many-${String(i).padStart(2, '0')}`
      await server.catraca.limits.setConfig(
        { level: 'entity', identifier, resource: 'GetEntry' },
        perMinute(3),
      )
      await server.catraca.limits.setConfig({ level: 'resource', resource: `orders-${i}` }, perMinute(3))
    }
    await visit('/limits')
    const resources = page.getByRole('region', { name: 'Resources' }).locator('tbody tr')
    await resources
      .filter({ hasText: 'CreateEntry' })
      .getByText('100 in each fixed window of 1 min')
      .waitFor()
    assert.equal(await resources.count(), 10)
    await page.getByRole('button', { name: 'Next page' }).first().click()
    await page.getByText('Page 2').waitFor()
    await page.getByLabel('Search resources').fill('getent')
    await resources.and(page.locator(':only-child')).filter({ hasText: 'GetEntry' }).waitFor()
    await page.getByLabel('Search entities').fill('y-29')
    const entities = page.getByRole('region', { name: 'Entities' }).locator('tbody tr')
    await entities.filter({ hasText: 'tenant:1' }).waitFor({ state: 'detached' })
    await entities.and(page.locator(':only-child')).filter({ hasText: 'many-29' }).waitFor()
    await page.getByLabel('Search entities').fill('')
    await page.getByRole('combobox', { name: 'Of the resource…' }).fill('CreateEntry')
    // Only its capacity is its own: the sentence needs the system level too.
    await entities.filter({ hasText: 'tenant:1' }).getByText('7 in each fixed window of 1 min').waitFor()
    await page.keyboard.press('Escape')
    await assertAccessible()
  })

  it('shows who is denied most often, by this process, and opens an entity by name', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    await setUp(server.catraca)
    for (let i = 0; i < 5; i++) await server.catraca.limits.acquire({ entity: 'ana', resource: 'GetEntry' })
    await visit('/limits')
    const denied = page.getByRole('region', { name: 'Most often denied' }).locator('tbody tr')
    await denied.filter({ hasText: 'ana' }).getByText('3', { exact: true }).waitFor()
    await page.getByText('In this server process').waitFor()
    await page.getByRole('button', { name: 'Open' }).click()
    assert.equal(await page.getByText('Fill this in.').count(), 2)
    await assertAccessible()
    await page.getByLabel('Entity', { exact: true }).fill('ana')
    await page.getByRole('combobox', { name: 'Resource', exact: true }).fill('GetEntry')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('meter', { name: 'perMinute' }).waitFor()
    assert.match(page.url(), /\/limits\/entities\/ana\/GetEntry$/)
  })

  it('shows to a key that may only ask what is left nothing more than that', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['limits'] })
    await setUp(server.catraca)
    await visit('/limits')
    await page.getByLabel('Entity', { exact: true }).fill('tenant:1')
    assert.equal(await page.getByText('Entities with limits of their own').count(), 0)
    await page.getByRole('combobox', { name: 'Resource', exact: true }).fill('CreateEntry')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('7 of 7').waitFor()
    assert.equal(await page.getByText('Effective limits').count(), 0)
    assert.equal(await page.getByRole('link', { name: 'Edit' }).count(), 0)
    await assertAccessible()
  })
})

describe('the page of a resource', () => {
  it('shows what each level says, and says before a deletion what applies afterwards', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { limits } = server.catraca
    await setUp(server.catraca)
    await limits.setConfig(
      { level: 'resource', resource: 'CreateEntry' },
      { limits: { perMinute: { capacity: 150 } } },
    )
    await visit('/limits/resources/CreateEntry')
    await page.getByText('150 in each fixed window of 1 min').waitFor()
    await assertAccessible()
    const panel = page.getByRole('region', { name: 'Resource level' })
    await panel.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('100 in each fixed window of 1 min').waitFor()
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await panel.getByText('No override.').waitFor()
    assert.equal(await limits.getConfig({ level: 'resource', resource: 'CreateEntry' }), undefined)
    await page.getByRole('region', { name: 'System level' }).getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText('LIMIT_NOT_CONFIGURED').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No limits configured').waitFor()
    await page.getByRole('link', { name: 'Who changed it' }).click()
    await page
      .getByRole('cell', { name: /limits of CreateEntry/ })
      .first()
      .waitFor()
    const audit = (await server.call('GET', '/audit?target=limit:CreateEntry&action=limit.config.delete'))
      .json
    assert.equal(audit.items.length, 2)
  })
})
