import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { openConsole, signIn, type TestConsole } from '../../support/console.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const rowOf = (page: TestConsole['page'], name: string) =>
  page.getByRole('dialog').getByRole('row').filter({ hasText: name })

describe('the page of a wave', () => {
  it('changes the share after a look at the difference', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await allowlists.create({ id: 'held', name: 'Held', type: 'FIXA' })
    for (const customer of ['a', 'b', 'c', 'd']) await allowlists.add('vip', customer)
    const config = { strategy: 'PERCENTAGE', percentage: 0.5, base: 'vip' } as const
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    // The server would have the first figures after ten seconds.
    const traffic = {
      stepSeconds: 10,
      from: new Date(Date.now() - 20_000).toISOString(),
      allowed: [1, 2],
      denied: [0, 1200],
    }
    await page.route('**/stats/allowlists/wave?*', (route) => route.fulfill({ json: traffic }))
    await visit('/allowlists/wave')
    await page.getByText('allowed 3 checks of this wave and denied 1,200').waitFor()
    await page
      .getByRole('img', { name: /Checks of this wave per second.*allowed: now 0\.2.*denied: now 120/ })
      .waitFor()
    await page.getByText('about 2 customers').waitFor()
    await page.getByText('50% of the 4 on VIP').waitFor()
    await page.getByText('none planned').waitFor()
    // Who of the base list is in, as a sample and as a file.
    await page.getByRole('button', { name: 'Show some' }).click()
    await page.getByText(/of the first 4 on the base list/).waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'As CSV' }).click(),
    ])
    const passing: string[] = []
    for (const id of ['a', 'b', 'c', 'd'])
      if ((await allowlists.check(id, ['wave'])).overallAllowed) passing.push(id)
    const rows = readFileSync(await file.path(), 'utf8')
      .trim()
      .split(/\r?\n/)
    assert.deepEqual(
      rows.slice(1).map((row) => row.split(',')[0]),
      passing,
    )
    const slider = page.getByRole('slider', { name: 'Share of customers' })
    await slider.focus()
    await slider.press('ArrowRight')
    const number = page.getByLabel('Share of customers: Share in percent')
    assert.equal(await number.inputValue(), '51 %')
    await number.fill('12.5')
    assert.equal(await slider.getAttribute('aria-valuenow'), '12.5')
    await page.getByLabel('Excluded lists').and(page.locator('input:not([type=hidden])')).fill('hel')
    // By the keyboard: the list of options may lie above the field for a moment, where a click misses it.
    await page.getByRole('option', { name: 'Held (held)' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByText('There are changes that are not saved.').waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Review the changes' }).click()
    assert.equal(await rowOf(page, 'Share of customers').textContent(), 'Share of customers50%12.5%')
    assert.equal(await rowOf(page, 'Excluded lists').textContent(), 'Excluded listsnoneheld')
    await page
      .getByText('changes at once from 50% to 12.5%. A drop: customers who are in now will be out.')
      .waitFor()
    await assertAccessible()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('No changes yet.').waitFor()
    // The button that opened the dialog has nothing to do any more: its panel has the focus.
    await page.locator('section:focus', { hasText: 'Review the changes' }).waitFor()
    const saved = await allowlists.get('wave')
    assert.deepEqual(saved.config, { ...config, percentage: 0.125, exclude: ['held'] })
    await page.getByText('minus those on the excluded lists (0 in all)').waitFor()
    await page.locator('.entry-list li', { hasText: 'tester changed Wave, 50% → 12.5%' }).waitFor()
    await number.fill('101')
    await page.getByText('A number from 0 to 100.').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Review the changes' }).isDisabled())
    await assertAccessible()
    await page.getByRole('button', { name: 'Discard' }).click()
    assert.equal(await number.inputValue(), '12.5 %')
  })

  it('saves nothing over what somebody else saved', async (t) => {
    const { page, server, visit } = await openConsole(t)
    const { allowlists } = server.catraca
    const config = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await visit('/allowlists/wave')
    const number = page.getByLabel('Share of customers: Share in percent')
    await number.fill('60')
    await page.getByRole('button', { name: 'Review the changes' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('at once from 50% to 60%').waitFor()
    await allowlists.update('wave', { config: { ...config, percentage: 0.1 } })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Somebody else changed it meanwhile').waitFor()
    await dialog.getByRole('button', { name: 'Load it as it is now' }).click()
    await page.getByText('10%', { exact: true }).first().waitFor()
    // What was typed stays, beside what is saved.
    await page.getByText('Somebody saved another rule meanwhile').waitFor()
    assert.equal(await number.inputValue(), '60 %')
    await page.getByRole('button', { name: 'Discard' }).click()
    assert.equal(await number.inputValue(), '10 %')
    assert.equal((await allowlists.get('wave')).config?.percentage, 0.1)
  })

  it('keeps what is not saved over other pages and a new session, and asks before it is lost', async (t) => {
    const { page, server, key, visit } = await openConsole(t, {
      scopes: ['admin'],
      server: { keyRefreshMs: 20 },
    })
    const other = await server.catraca.keys.create({ name: 'other', scopes: ['admin'] })
    const config = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
    await server.catraca.allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await visit('/allowlists/wave')
    const number = page.getByLabel('Share of customers: Share in percent')
    await number.fill('60')
    await page.locator('nav a', { hasText: 'Settings' }).click()
    await page.getByText('Your changes are not saved. They are kept').waitFor()
    await page.goBack()
    await page.getByText('There are changes that are not saved.').waitFor()
    assert.equal(await number.inputValue(), '60 %')
    const asked = page.waitForEvent('dialog').then(async (dialog) => {
      await dialog.dismiss()
      return dialog.type()
    })
    await Promise.race([page.evaluate('location.reload()'), asked])
    assert.equal(await asked, 'beforeunload')
    // The key is refused for a moment: the page asks for it again, and has what was typed.
    const refuseOnce = () =>
      page.route('**/allowlists/wave', (route) => route.fulfill({ status: 401, body: '{}' }), { times: 1 })
    await refuseOnce()
    await page.getByText('no longer accepts your key').waitFor()
    await page
      .getByText('kept for the key tester. If you sign in with another key, they are dropped')
      .waitFor()
    await signIn(page, key!)
    await page.getByText('There are changes that are not saved.').waitFor()
    assert.equal(await number.inputValue(), '60 %')
    await refuseOnce()
    await page.getByText('no longer accepts your key').waitFor()
    await signIn(page, other.key)
    await page.getByText('not saved under the other key are dropped').waitFor()
    await page.getByText('No changes yet.').waitFor()
    assert.equal(await number.inputValue(), '50 %')
    await number.fill('60')
    const tab = await page.context().newPage()
    await tab.goto(`${server.url}/console/settings`)
    await tab.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You signed out in another tab').waitFor()
    await tab.close()
    await signIn(page, other.key)
    await page.getByText('There are changes that are not saved.').waitFor()
    assert.equal(await number.inputValue(), '60 %')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('Unsaved changes are dropped').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out').waitFor()
    await visit('/allowlists/wave')
    assert.equal(await number.inputValue(), '50 %')
  })

  it('plans a ramp, draws it, and tells when a customer gets in', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { allowlists } = server.catraca
    const config = { strategy: 'PERCENTAGE', percentage: 0 } as const
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await visit('/allowlists/wave')
    await page.getByText('answered no check of this wave').waitFor()
    await page.getByLabel('Fill in a ramp').selectOption('days')
    await page.locator('.ramp-step').nth(4).waitFor()
    assert.equal(await page.locator('.ramp-step').count(), 5)
    const picture = page.getByRole('img', { name: /Share over time\. Now 0%\. .*: 1%\. .*: 100%\./ })
    await picture.locator('canvas').waitFor()
    await page.getByRole('button', { name: 'Remove step 4' }).click()
    const warning = page.locator('.ramp-warning')
    await warning.filter({ hasText: 'more than half of all customers at once' }).waitFor()
    await page.getByLabel('Step 2: share in percent').fill('0.5')
    await warning.filter({ hasText: 'customers who are in will be out' }).waitFor()
    await page.getByLabel('Step 2: share in percent').fill('')
    await page.getByText('A number from 0 to 100.').waitFor()
    await assertAccessible()
    await page.getByLabel('Step 2: share in percent').fill('7')
    const first = await page.getByLabel('Step 1: from').inputValue()
    await page.getByLabel('Step 2: from').fill(first)
    await page.getByText('After the step before it.').waitFor()
    await page.getByLabel('Step 2: from').fill('2090-01-01T12:00')
    await page.getByText('After the step before it.').first().waitFor()
    await page.getByRole('button', { name: 'Remove step 2' }).click()
    await page.locator('.ramp-chart').getByText('Show as a table').click()
    await page.locator('.ramp-chart tbody tr').nth(3).waitFor()
    assert.equal(await page.locator('.ramp-chart tbody tr').count(), 4)
    await page.getByRole('button', { name: 'Review the changes' }).click()
    await page.getByRole('dialog').getByText('more than half of all customers at once').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('No changes yet.').waitFor()
    const { ramp } = (await allowlists.get('wave')).config!
    assert.deepEqual(
      ramp!.map(({ percentage }) => percentage),
      [0.01, 0.25, 1],
    )
    assert.deepEqual(
      ramp!.map(({ at }) => (at - ramp![0]!.at) / DAY_MS),
      [0, 2, 4],
    )
    assert.equal(ramp![0]!.at % HOUR_MS, 0)
    await page.getByText(/^1% from /).waitFor()
    await page.getByLabel('Customer', { exact: true }).fill('ana')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Not in', { exact: true }).waitFor()
    await page.getByText(/Place .*%: in when the share is above it\. By the saved ramp, from /).waitFor()
    await assertAccessible()
  })

  it('takes a window in any time zone, to the millisecond in UTC', async (t) => {
    const browser = { timezoneId: 'America/Sao_Paulo' }
    const { page, server, visit, assertAccessible } = await openConsole(t, { browser })
    const { allowlists } = server.catraca
    // A moment with milliseconds, which no field shows, must survive.
    const endTime = Date.parse('2031-01-31T12:00:00.123Z')
    const config = { strategy: 'TIME_WINDOW', endTime } as const
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await visit('/allowlists/wave')
    const zone = page.getByLabel('Time zone of the times on this page')
    assert.equal(await zone.inputValue(), 'America/Sao_Paulo')
    assert.match(await page.getByLabel('Closes').inputValue(), /^2031-01-31T09:00/)
    await zone.selectOption('America/New_York')
    for (const [typed, utc] of [
      ['2030-03-10T01:30', 'Mar 10, 2030, 6:30 AM UTC'],
      // Clocks jump from 2:00 to 3:00.
      ['2030-03-10T02:30', 'Mar 10, 2030, 7:30 AM UTC'],
      ['2030-03-10T03:30', 'Mar 10, 2030, 7:30 AM UTC'],
      // They show this twice; the first is meant.
      ['2030-11-03T01:30', 'Nov 3, 2030, 5:30 AM UTC'],
      ['2030-11-03T02:30', 'Nov 3, 2030, 7:30 AM UTC'],
    ] as const) {
      await page.getByLabel('Opens', { exact: true }).fill(typed)
      await page.getByText(utc).waitFor()
    }
    await page.getByRole('button', { name: 'Discard' }).click()
    await zone.selectOption('Asia/Tokyo')
    assert.match(await page.getByLabel('Closes').inputValue(), /^2031-01-31T21:00/)
    await page.getByText('No changes yet.').waitFor()
    await page.getByLabel('Opens', { exact: true }).fill('2031-02-01T09:00')
    await page.getByText('After the beginning.').waitFor()
    await page.getByLabel('Opens', { exact: true }).fill('2030-07-01T09:00')
    await page.getByText('Jun 30, 2030, 9:00 PM for you').waitFor()
    await page.getByText('Jul 1, 2030, 12:00 AM UTC').waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Review the changes' }).click()
    await page.getByRole('dialog').getByText('Jul 1, 2030, 12:00 AM UTC').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('No changes yet.').waitFor()
    const saved = (await allowlists.get('wave')).config
    assert.deepEqual(saved, { ...config, startTime: Date.parse('2030-07-01T00:00:00Z') })
  })

  it('names customers', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { allowlists } = server.catraca
    const config = { strategy: 'EXPLICIT_LIST' as const, customerIds: ['ana', 'bia'] }
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await visit('/allowlists/wave')
    await page.getByText('at most 2 customers').waitFor()
    await page.getByLabel('Named customers (2)').fill('bia\ncaio, dani')
    await page.getByRole('button', { name: 'Review the changes' }).click()
    assert.match(
      (await rowOf(page, 'Named customers').textContent()) ?? '',
      /2 named3 named2 more\+ caio\+ dani1 fewer− ana/,
    )
    await assertAccessible()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('No changes yet.').waitFor()
    assert.deepEqual((await allowlists.get('wave')).config?.customerIds, ['bia', 'caio', 'dani'])
  })
})

describe('pausing a wave', () => {
  it('sets 0 % and takes the ramp away at once, and resumes what was before', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    const ramp = [
      { at: Date.now() - DAY_MS, percentage: 0.25 },
      { at: Date.now() + DAY_MS, percentage: 1 },
    ]
    const config = { strategy: 'PERCENTAGE', percentage: 0.01, ramp } as const
    await allowlists.create({
      id: 'wave',
      name: 'Wave',
      type: 'ONDA',
      config: { ...config, ramp: [...ramp] },
    })
    await visit('/allowlists/wave')
    await page.getByText('25%', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Pause now' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The share goes to 0% at once').waitFor()
    await dialog.getByText('The ramp (2 steps) is put aside too').waitFor()
    await assertAccessible()
    // Somebody else saves meanwhile: the pause wins all the same.
    await allowlists.update('wave', { config: { ...config, ramp: [...ramp], percentage: 0.02 } })
    await allowlists.update('wave', { config: { ...config, ramp: [...ramp] } })
    await dialog.getByRole('button', { name: 'Pause the wave' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    await page.locator('.entry-list li', { hasText: 'tester paused Wave, 25% → 0%' }).waitFor()
    assert.deepEqual((await allowlists.get('wave')).config, { strategy: 'PERCENTAGE', percentage: 0 })
    await assertAccessible()
    // Another name meanwhile is no other rule.
    await allowlists.update('wave', { name: 'Renamed' })
    await visit('/allowlists/wave')
    await page.getByRole('button', { name: 'Resume' }).click()
    await dialog.getByText(/from before the pause \(/).waitFor()
    await dialog.getByText('at once from 0% to 25%').waitFor()
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Resume the wave' }).click()
    await page.getByRole('button', { name: 'Pause now' }).waitFor()
    assert.deepEqual((await allowlists.get('wave')).config, config)
  })

  it('stays in view, and resumes a ramp that is shifted by the time paused', async (t) => {
    const { page, server, visit } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    const ramp = [
      { at: Date.now() - DAY_MS, percentage: 0.25 },
      { at: Date.now() + DAY_MS, percentage: 1 },
    ]
    const config = { strategy: 'PERCENTAGE' as const, percentage: 0, ramp }
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await visit('/allowlists/wave')
    await page.getByText('Details', { exact: true }).scrollIntoViewIfNeeded()
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    const pause = page.getByRole('button', { name: 'Pause now' })
    const box = await pause.boundingBox()
    assert.ok(box!.y >= 0 && box!.y < 300, 'the pause is in sight at the end of the page')
    await pause.click()
    await page.getByRole('dialog').getByLabel('Reason').fill('errors in checkout')
    await page.getByRole('dialog').getByRole('button', { name: 'Pause the wave' }).click()
    await page.locator('.entry-list li', { hasText: 'paused Wave, 25% → 0%“errors in checkout”' }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/^Shift it by/)
      .check()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume the wave' }).click()
    await pause.waitFor()
    const [first, second] = (await allowlists.get('wave')).config!.ramp!
    assert.equal(first!.at, ramp[0]!.at)
    assert.ok(second!.at > ramp[1]!.at, 'the step to come is later')
  })

  it('closes the window of a wave that has no share, and loses nothing of it', async (t) => {
    const { page, server, visit } = await openConsole(t)
    const { allowlists } = server.catraca
    const config = { strategy: 'EXPLICIT_LIST' as const, customerIds: ['ana'] }
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    const passes = async () => (await allowlists.check('ana', ['wave'])).overallAllowed
    assert.equal(await passes(), true)
    await visit('/allowlists/wave')
    await page.getByRole('button', { name: 'Pause now' }).click()
    await page.getByRole('dialog').getByText('The time window closes at once').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause the wave' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    assert.equal(await passes(), false)
    assert.deepEqual((await allowlists.get('wave')).config?.customerIds, ['ana'])
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume the wave' }).click()
    await page.getByRole('button', { name: 'Pause now' }).waitFor()
    assert.equal(await passes(), true)
  })

  it('is seen within seconds where it was not done, and is not what a new wave shows', async (t) => {
    const { page, server, visit, complaints } = await openConsole(t)
    const { allowlists } = server.catraca
    const config = { strategy: 'PERCENTAGE', percentage: 0 } as const
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await visit('/allowlists/wave')
    await page.getByText('Closed', { exact: true }).waitFor()
    await page.getByText('Nobody passes, and nothing is planned.').waitFor()
    await page.getByLabel('Share of customers: Share in percent').fill('100')
    await page.getByRole('button', { name: 'Review the changes' }).click()
    await page.getByRole('dialog').getByText('more than half of all customers at once').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    assert.equal(await page.getByRole('button', { name: 'Resume' }).count(), 0)
    // A new step is a step further.
    await page.getByRole('button', { name: 'Add a step' }).click()
    assert.equal(await page.getByLabel('Step 1: share in percent').inputValue(), '1 %')
    await page.getByRole('button', { name: 'Discard' }).click()
    await allowlists.update('wave', { config: { ...config, percentage: 0.04 } })
    await page.getByText('Open', { exact: true }).waitFor()
    assert.equal(await page.getByLabel('Share of customers: Share in percent').inputValue(), '4 %')
    await allowlists.pause('wave')
    await page.getByText('Paused', { exact: true }).waitFor()
    await page.route('**/allowlists/wave', (route) => route.abort())
    await page.getByText('the server has not answered since').waitFor()
    // A page that cannot be loaded says what it is.
    await page.route('**/console/assets/**', (route) => route.abort())
    await page.locator('nav a', { hasText: 'Locks' }).click()
    await page.getByText('UNREACHABLE').last().waitFor()
    complaints.length = 0
  })
})
