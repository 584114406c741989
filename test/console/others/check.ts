import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsole } from '../../support/console.js'

const EVIL = '<img src=x onerror="document.title=1">'

describe('the check page', () => {
  it('answers, tells why step by step, and shows all lists of the customer', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, {
      scopes: ['admin'],
      open: { sweepIntervalMs: 0 },
    })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: EVIL, type: 'FIXA' })
    await allowlists.create({
      id: 'wave',
      name: 'Wave',
      type: 'ONDA',
      config: { strategy: 'PERCENTAGE', percentage: 0 },
    })
    await allowlists.add('vip', 'ana')
    await allowlists.add('vip', 'old', { expiresAt: '2020-01-01T00:00:00Z' })
    await visit('/check')
    await page.getByLabel('Customer').fill('ana')
    await page.getByLabel('Allowlists').fill('vip, wave none')
    await page.getByLabel('Allowlists').press('Enter')
    const verdict = page.getByRole('status').filter({ hasText: 'May not pass' })
    await verdict.waitFor()
    const answers = page.locator('.panel')
    await answers.filter({ hasText: 'The customer is on the list.' }).getByText('Allowed').waitFor()
    const wave = answers.filter({ hasText: 'The customer is not in the wave.' })
    await wave.getByText('Denied').waitFor()
    assert.match(
      (await wave.getByRole('row', { name: /Percentage/ }).textContent()) ?? '',
      /open to those below 0%.*[µm]s/,
    )
    await page.getByText('There is no list with this id.').waitFor()
    const lists = page.locator('.panel', { hasText: 'Lists of this customer' })
    // A name is text, whatever it says.
    await lists.getByText(EVIL).waitFor()
    assert.equal(await page.locator('td img').count(), 0)
    assert.equal(await page.title(), 'Check · Catraca')
    await assertAccessible()
    await lists.getByRole('button', { name: 'Check these lists' }).click()
    await page.getByRole('status').filter({ hasText: 'May pass: every list says yes.' }).waitFor()
    // Who has expired has expired, whichever page says it.
    await visit('/check?customer=old&lists=vip')
    await page.getByText('The customer was on the list, and that has expired.').waitFor()
    await page.getByRole('row', { name: /Expiry expired (Jan 1, 2020|Dec 31, 2019)/ }).waitFor()
    await lists.getByText('expired', { exact: true }).waitFor()
    await visit('/allowlists/vip')
    await page.getByLabel('Find a customer').fill('old')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('old was on this list, and that has expired: checks say no.').waitFor()
    assert.equal(await page.getByText('is on this list').count(), 0)
  })

  it('shows the same as curl, with the key as a variable', async (t) => {
    const { page, key, server, visit } = await openConsole(t, { scopes: ['check'] })
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await visit('/check?customer=a%3Ab%2Bc&lists=vip')
    const command = await page.locator('.curl code').textContent()
    assert.ok(command!.includes('"Authorization: Bearer $CATRACA_KEY"'))
    assert.ok(!(await page.content()).includes(key!))
    const url = /'(http[^']+)'/.exec(command!)![1]!
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    assert.equal(((await answer.json()) as { customerId: string }).customerId, 'a:b+c')
    // This key may ask, not look behind.
    await page.getByText('that needs the scope read').waitFor()
    assert.equal(await page.getByText('Lists of this customer').count(), 0)
  })

  it('says what is missing or wrong', async (t) => {
    const { page, visit, assertAccessible } = await openConsole(t, { scopes: ['check'] })
    await visit('/check')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('Type the id of a customer.').waitFor()
    await page.getByText('Type at least one allowlist.').waitFor()
    await page.getByLabel('Customer').fill('not an id!')
    await page.getByLabel('Allowlists').fill('vip')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('alert').getByText('INVALID_INPUT').waitFor()
    await page.getByRole('alert').getByText('customerId', { exact: true }).waitFor()
    await assertAccessible()
  })
})
