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
    // Part of a name finds the list; ids may be typed or pasted too.
    await page.getByRole('combobox', { name: 'Lists' }).fill('wav')
    await page.getByRole('option', { name: 'Wave wave' }).click()
    await page.getByRole('combobox', { name: 'Lists' }).fill('vip, none')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    const verdict = page.getByRole('status').filter({ hasText: 'may not pass: 2 of 3 lists deny' })
    await verdict.waitFor()
    const answers = verdict.getByRole('listitem')
    await answers.filter({ hasText: `Allowed by ${EVIL}: on the list` }).waitFor()
    const wave = answers.filter({ hasText: 'Denied by Wave' })
    const sentence = /: place [\d.]+%, open to 0%; no planned step reaches this customer/
    assert.match((await wave.textContent())!, sentence)
    // Those that deny come first.
    assert.match((await answers.last().textContent())!, /^ *Allowed/)
    assert.equal(await wave.getByRole('row').first().isVisible(), false)
    await wave.getByText('How it was decided').click()
    assert.match(
      (await wave.getByRole('row', { name: /Percentage/ }).textContent()) ?? '',
      /open to those below 0%.*[µm]s/,
    )
    await answers.filter({ hasText: 'no list has the id none' }).waitFor()
    const lists = page.locator('.panel', { hasText: 'Lists of this customer' })
    // A name is text, whatever it says.
    await lists.getByText(EVIL).waitFor()
    assert.equal(
      await lists.getByRole('link', { name: 'vip' }).getAttribute('href'),
      '/console/allowlists/vip',
    )
    assert.equal(await page.locator('td img').count(), 0)
    assert.equal(await page.title(), 'Check · Catraca')
    // Every wave and list at once.
    const all = page.getByRole('region', { name: 'All lists and waves' })
    await all.getByRole('listitem').filter({ hasText: 'Denied by Wave' }).waitFor()
    await all.getByLabel('Type').selectOption('')
    await all.getByLabel('Outcome').selectOption('allowed')
    await all
      .getByRole('listitem')
      .filter({ hasText: `Allowed by ${EVIL}` })
      .waitFor()
    assert.equal(await all.getByRole('listitem').count(), 1)
    await assertAccessible()
    await lists.getByRole('button', { name: 'Check these lists' }).click()
    await page.getByRole('status').filter({ hasText: 'may pass: every list allows.' }).waitFor()
    // Who has expired has expired, whichever page says it.
    await visit('/check?customer=old&lists=vip')
    await page.getByText(/Denied by .*: was on the list until (Jan 1, 2020|Dec 31, 2019)/).waitFor()
    await page.getByText('How it was decided').first().click()
    await page.getByRole('row', { name: /Expiry expired (Jan 1, 2020|Dec 31, 2019)/ }).waitFor()
    await lists.getByText('expired', { exact: true }).waitFor()
    await visit('/allowlists/vip')
    await page.getByLabel('Find a customer').fill('old')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('old was on this list until it expired: checks are denied.').waitFor()
    assert.equal(await page.getByText('is on this list').count(), 0)
  })

  it('looks further where the first hundreds of lists are not what was asked for', async (t) => {
    const { page, server, visit } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    for (let i = 0; i < 1020; i += 60) {
      const some = Array.from({ length: 60 }, (_, j) => `list-${1000 + i + j}`)
      await Promise.all(some.map((id) => allowlists.create({ id, name: id, type: 'FIXA' })))
    }
    const config = { strategy: 'PERCENTAGE', percentage: 0 } as const
    await allowlists.create({ id: 'wave', name: 'The wave', type: 'ONDA', config })
    await visit('/check?customer=ana')
    const all = page.getByRole('region', { name: 'All lists and waves' })
    await all.getByRole('listitem').filter({ hasText: 'Denied by The wave' }).waitFor()
    assert.equal(await all.getByText('No list on this page').count(), 0)
  })

  it('shows the same as curl, with the key as a variable', async (t) => {
    const { page, key, server, visit } = await openConsole(t, { scopes: ['check'] })
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await visit('/check?customer=a%3Ab%2Bc&lists=vip')
    await page.getByRole('heading', { name: 'The same from a terminal' }).click()
    const command = await page.locator('.curl code').textContent()
    assert.ok(command!.includes('"Authorization: Bearer $CATRACA_KEY"'))
    assert.ok(!(await page.content()).includes(key!))
    const url = /'(http[^']+)'/.exec(command!)![1]!
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    assert.equal(((await answer.json()) as { customerId: string }).customerId, 'a:b+c')
    // This key may ask, not look behind.
    await page.getByText('The steps need the scope read').waitFor()
    assert.equal(await page.getByText('Lists of this customer').count(), 0)
  })

  it('says what is missing or wrong', async (t) => {
    const { page, visit, assertAccessible } = await openConsole(t, { scopes: ['check'] })
    await visit('/check')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByText('Type a customer id.').waitFor()
    await page.getByText('Choose at least one list.').waitFor()
    await page.getByLabel('Customer').fill('not an id!')
    await page.getByRole('combobox', { name: 'Lists' }).fill('vip')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByRole('alert').getByText('INVALID_INPUT').waitFor()
    await page.getByRole('alert').getByText('customerId', { exact: true }).waitFor()
    await assertAccessible()
  })
})
