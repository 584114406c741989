import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import type { Download } from 'playwright-core'
import { until } from '../../server/support.js'
import { openConsole } from '../../support/console.js'

const textOf = async (download: Download): Promise<string> => readFile(await download.path(), 'utf8')

describe('the page of an explicit list', () => {
  it('finds, adds and removes customers, and tells of it in the history', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await visit('/allowlists/vip')
    await page.getByText('Nobody is on this list yet').waitFor()
    await page.getByLabel('Find a customer').fill('ana:1')
    await page.getByLabel('Find a customer').press('Enter')
    await page.getByText('ana:1 is not on this list.').waitFor()
    await page.getByRole('button', { name: 'Add ana:1' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Details as JSON').fill('[1]')
    await dialog.getByRole('button', { name: 'Add customer' }).click()
    await dialog.getByText('This is not a JSON object.').waitFor()
    await assertAccessible()
    await dialog.getByLabel('Details as JSON').fill('{"plan":"gold"}')
    await dialog.getByLabel('Added by').fill('maria')
    await dialog.getByLabel('Expires').fill('2090-01-31T09:00')
    await dialog.getByRole('button', { name: 'Add customer' }).click()
    await page.getByText('ana:1 is on this list.').waitFor()
    const { addedAt: _, ...member } = await allowlists.member('vip', 'ana:1')
    const zone = await page.evaluate("new Date('2090-01-31T09:00').toISOString()")
    assert.deepEqual(member, {
      customerId: 'ana:1',
      addedBy: 'maria',
      metadata: { plan: 'gold' },
      expiresAt: zone,
    })
    await page.getByRole('row', { name: /ana:1.*maria/ }).waitFor()
    await page
      .locator('.entry-list li', { hasText: /tester added ana:1 to VIP/ })
      .first()
      .waitFor()
    await assertAccessible()
    await page
      .getByRole('row', { name: /ana:1.*maria/ })
      .getByRole('button', { name: 'Remove ana:1' })
      .click()
    await dialog.getByText('ana:1 is removed from VIP').waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('ana:1 is not on this list.').waitFor()
    await page.locator('.entry-list li', { hasText: /tester removed ana:1 from VIP/ }).waitFor()
    assert.equal((await allowlists.get('vip')).customerCount, 0)
  })

  it('has the lines with which programs ask for the list', async (t) => {
    const { page, server, visit } = await openConsole(t, { scopes: ['admin'] })
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await visit('/allowlists/vip')
    const panel = page.locator('.folded', { hasText: 'Use it from code' })
    await panel.getByRole('heading').click()
    await panel.locator('pre', { hasText: '/customers/CUSTOMER/check?allowlists=vip' }).waitFor()
    for (const [language, line] of [
      ['OpenFeature: JavaScript', "getBooleanValue('vip', false"],
      ['Go', 'ofrep.WithBearerToken'],
      ['Java', 'getBooleanValue("vip", false'],
      ['Python', 'get_boolean_value("vip", False'],
      ['Library (Node)', "check('CUSTOMER', ['vip'])"],
    ]) {
      await panel.getByLabel('Language').selectOption({ label: language! })
      await panel.locator('pre', { hasText: line! }).waitFor()
    }
  })

  it('shows the index, and builds it anew', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await allowlists.add('vip', 'ana')
    await visit('/allowlists/vip')
    const panel = page.getByRole('region', { name: 'Index', exact: true })
    await panel.getByText('never').waitFor()
    await panel.getByRole('button', { name: 'Rebuild index' }).click()
    await page.getByRole('dialog').getByText('from the store once').waitFor()
    await assertAccessible()
    await page.getByRole('dialog').getByRole('button', { name: 'Rebuild index' }).click()
    await panel.getByText(/took .*1 page\b/).waitFor()
    assert.ok((await allowlists.index('vip')).lastBuild !== undefined)
    await page.locator('.entry-list li', { hasText: /rebuilt the index of/ }).waitFor()
    await until('in memory', async () => {
      await allowlists.check('ana', ['vip'])
      return (await allowlists.index('vip')).state === 'loaded'
    })
    await visit('/allowlists/vip')
    await panel.getByText('Answers from memory').waitFor()
    assert.match((await panel.locator('dl').textContent()) ?? '', /Feed lag0 µs/)
  })

  it('has an owner, a description and tags, and a reason for every change', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await allowlists.create({ id: 'beta', name: 'Beta', type: 'FIXA' })
    const config = { strategy: 'PERCENTAGE', percentage: 0.5, base: 'vip' } as const
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    await visit('/allowlists/vip')
    await page.getByRole('region', { name: 'Used by' }).getByText('Wave as base list').waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Description').fill('Customers of the first hour')
    await dialog.getByLabel('Owner').fill('team-growth')
    const tags = dialog
      .getByRole('textbox', { name: 'Tags' })
      .or(dialog.getByRole('combobox', { name: 'Tags' }))
    await tags.fill('growth')
    await tags.press('Enter')
    await dialog.getByLabel('Reason').fill('OPS-12: somebody must own it')
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Customers of the first hour').waitFor()
    await page.locator('.entry-list li', { hasText: '“OPS-12: somebody must own it”' }).waitFor()
    const { owner, description, tags: kept } = await allowlists.get('vip')
    assert.deepEqual([owner, description, kept], ['team-growth', 'Customers of the first hour', ['growth']])
    await page.getByRole('link', { name: 'growth', exact: true }).click()
    await page.getByText('1 in total').waitFor()
    await page.getByRole('link', { name: 'VIP' }).waitFor()
    await assertAccessible()
  })

  it('takes pasted ids, removes those of a file, and shows past imports', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    for (const customer of ['ana', 'bia', 'caio']) await allowlists.add('vip', customer)
    await visit('/allowlists/vip')
    await page.getByRole('button', { name: 'Paste ids' }).click()
    await page.getByLabel('Ids or CSV rows').fill('ana\n\ncaio\nzoe\n')
    await page.getByText('3 rows').waitFor()
    await page.getByRole('button', { name: 'Use these rows' }).click()
    await page.getByLabel('Remove from the list').check()
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByRole('dialog').getByText('Every customer in pasted.txt is removed').waitFor()
    await assertAccessible()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the customers' }).click()
    await page.locator('.list-line', { hasText: '1 customers' }).waitFor()
    await assert.rejects(allowlists.member('vip', 'ana'), { code: 'MEMBER_NOT_FOUND' })
    await page.getByRole('heading', { name: 'Past imports' }).click()
    await page.getByRole('row', { name: /remove completed Removed: 2/ }).waitFor()
    // A part of an id narrows the table.
    await page.getByLabel('Find a customer').fill('x')
    await page.getByText('No customer id begins like this.').waitFor()
    await page.getByLabel('Find a customer').fill('bi')
    await page.getByRole('cell', { name: 'bia', exact: true }).waitFor()
    await assertAccessible()
  })

  it('tells when somebody else was faster, and deletes only when its id is typed', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await allowlists.add('vip', 'ana')
    await visit('/allowlists/vip')
    await page.getByRole('button', { name: 'Edit' }).click()
    await allowlists.update('vip', { name: 'By another' })
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Mine')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Somebody else changed it meanwhile').waitFor()
    assert.equal((await allowlists.get('vip')).name, 'By another')
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Load it as it is now' }).click()
    await page.getByRole('heading', { level: 1, name: 'By another', includeHidden: true }).waitFor()
    await dialog.getByLabel('Name').fill('Mine')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText('Mine and its 1 customers are deleted').waitFor()
    const remove = dialog.getByRole('button', { name: 'Delete the list' })
    assert.ok(await remove.isDisabled())
    await dialog.getByLabel('Type vip to confirm').fill('vip')
    await assertAccessible()
    await remove.click()
    await page.getByText('No list yet.').waitFor()
    await assert.rejects(allowlists.get('vip'), { code: 'ALLOWLIST_NOT_FOUND' })
    await visit('/allowlists/vip')
    await page.getByText('No allowlist has this id.').waitFor()
  })
})

describe('files of customers', () => {
  it('uploads some thousand rows, and gives the rejected ones back without formulas', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const rows = Array.from({ length: 3000 }, (_, index) => `customer-${index},loader`)
    rows[10] = '=1+1 cmd,loader'
    rows[11] = '"bad, id",loader'
    rows[12] = '@x y,loader'
    const file = {
      name: 'customers.csv',
      mimeType: '',
      buffer: Buffer.from(['customerId,addedBy', ...rows].join('\n')),
    }
    await visit('/allowlists/vip')
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('customers.csv, ').waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    const panel = page.locator('.panel', { hasText: 'Upload a file' })
    await panel.getByText('Done', { exact: true }).waitFor()
    assert.match((await panel.locator('dl').textContent()) ?? '', /Added2,997.*Rejected3/)
    const rejected = panel.getByRole('region', { name: 'Rejected rows' })
    await rejected.getByRole('row', { name: /12 =1\+1 cmd,loader customerId/ }).waitFor()
    await assertAccessible()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      panel.getByRole('button', { name: 'Download as CSV' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'vip-rejected.csv')
    const lines = (await textOf(download)).split('\r\n')
    assert.equal(lines[0], 'line,row,reason')
    assert.match(lines[1]!, /^12,"'=1\+1 cmd,loader",/)
    assert.match(lines[2]!, /^13,"""bad, id"",loader",/)
    assert.match(lines[3]!, /^14,"'@x y,loader",/)
    assert.equal((await allowlists.get('vip')).customerCount, 2997)
    assert.equal((await allowlists.member('vip', 'customer-9')).addedBy, 'loader')
    await page.getByText('2,997', { exact: true }).first().waitFor()
    await page.locator('.entry-list li', { hasText: /imported customers into .*2,997 added/ }).waitFor()
  })

  it('takes a file that is dropped, and asks before it replaces the list', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await allowlists.add('vip', 'ana')
    await allowlists.add('vip', 'bia')
    await visit('/allowlists/vip')
    await page.locator('.drop-zone').waitFor()
    await page.evaluate(`{
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['bia\\ncaio\\n'], 'new.txt'))
      const zone = document.querySelector('.drop-zone')
      zone.dispatchEvent(new DragEvent('dragover', { bubbles: true, cancelable: true, dataTransfer }))
      zone.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }))
    }`)
    await page.getByText('new.txt, ').waitFor()
    await page.getByLabel('Replace the list').check()
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The list has 2 customers now.').waitFor()
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await allowlists.members('vip')).items.length, 2)
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await dialog.getByRole('button', { name: 'Replace the list' }).click()
    const panel = page.locator('.panel', { hasText: 'Upload a file' })
    await panel.getByText('Done', { exact: true }).waitFor()
    assert.match((await panel.locator('dl').textContent()) ?? '', /Added1.*Already on the list1.*Removed1/)
    const { items } = await allowlists.members('vip')
    assert.deepEqual(
      items.map(({ customerId }) => customerId),
      ['bia', 'caio'],
    )
  })

  it('shows the columns of a CSV file first, and is found again by who left the page', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await visit('/allowlists/vip')
    // A cell too many in a row that is not shown.
    const rows = ['id;cpf;nome', '1;111.222;"Ana; Lia"', '2;not an id;Bia;', ...Array(9).fill('3;333;Caio')]
    const buffer = Buffer.from([...rows, '4;444;Dani; Edu', ''].join('\n'))
    await page.locator('input[type=file]').setInputFiles({ name: 'people.csv', mimeType: '', buffer })
    const column = page.getByLabel('Column with the customer ids')
    assert.equal(await column.inputValue(), '0')
    await page.getByText('Not imported: cpf, nome, Column 4.').waitFor()
    await page.getByText('more cells than the first row: 1.').waitFor()
    await assertAccessible()
    await column.selectOption('cpf')
    await page.getByText('Not imported: id, nome, Column 4.').waitFor()
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.locator('nav a', { hasText: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await page.goBack()
    const panel = page.locator('.panel', { hasText: 'Upload a file' })
    const rejected = panel.getByRole('row', { name: /2;not an id;Bia/ })
    await rejected.waitFor()
    await panel.getByText('more cells than the first row: 1. These cells were not imported').waitFor()
    await page.reload()
    await rejected.waitFor()
    const { items } = await allowlists.members('vip')
    assert.deepEqual(
      items.map(({ customerId }) => customerId),
      ['111.222', '333', '444'],
    )
  })

  it('shows how much is sent, and gives up without a trace', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, {
      scopes: ['admin'],
      ownPage: true,
    })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await visit('/allowlists/vip')
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 100_000 }
    await session.send('Network.emulateNetworkConditions', slow)
    const buffer = Buffer.from(Array.from({ length: 80_000 }, (_, index) => `customer-${index}`).join('\n'))
    await page.locator('input[type=file]').setInputFiles({ name: 'many.txt', mimeType: 'text/plain', buffer })
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByText(/of 1\.\d MB sent/).waitFor()
    await page.getByRole('progressbar', { name: 'Sending the file' }).waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Cancel the upload' }).click()
    await page.getByText('The upload is cancelled: nothing was changed.').waitFor()
    assert.equal((await allowlists.get('vip')).customerCount, 0)
  })

  it('exports with the key in a header', async (t) => {
    const { page, server, visit } = await openConsole(t, { scopes: ['admin'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await allowlists.add('vip', 'ana', { addedBy: 'maria' })
    await visit('/allowlists/vip')
    for (const [label, file, content] of [
      ['As CSV', 'vip.csv', /^customerId,.*\r?\nana,/],
      ['As NDJSON', 'vip.ndjson', /^\{"customerId":"ana"/],
    ] as const) {
      await page.getByRole('button', { name: 'Export' }).click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: label }).click(),
      ])
      assert.equal(download.suggestedFilename(), file)
      assert.match(await textOf(download), content)
    }
  })
})
