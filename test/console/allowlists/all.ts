import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsole } from '../../support/console.js'

const EVIL = '<img src=x onerror=alert(1)>'

describe('the page of all allowlists', () => {
  it('searches, sorts and leafs through two thousand lists', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t)
    const { allowlists } = server.catraca
    const numbers = Array.from({ length: 2000 }, (_, index) => index)
    for (let at = 0; at < numbers.length; at += 500) {
      await Promise.all(
        numbers.slice(at, at + 500).map((number) => {
          const id = `list-${String(number).padStart(5, '0')}`
          return allowlists.create({ id, name: `List ${number}`, type: 'FIXA' })
        }),
      )
    }
    const config = { strategy: 'PERCENTAGE', percentage: 0.25 } as const
    await allowlists.create({ id: 'wave', name: 'Checkout wave', type: 'ONDA', config })
    await allowlists.add('list-00042', 'ana')
    await visit('/allowlists')
    const rows = page.locator('tbody tr')
    await page.getByText('2,001 in total').waitFor()
    assert.equal(await rows.count(), 50)
    assert.match((await rows.first().textContent()) ?? '', /Checkout wave.*25%/)
    await assertAccessible()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('Page 2').waitFor()
    await page.getByRole('link', { name: 'List 49', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'List 49' }).waitFor()
    await page.goBack()
    await page.getByText('Page 2').waitFor()
    await page.getByRole('link', { name: 'List 49', exact: true }).click()
    await page.getByRole('link', { name: 'All allowlists' }).click()
    await page.getByText('Page 2').waitFor()
    await page.getByRole('link', { name: 'List 49', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Previous page' }).click()
    await page.getByRole('link', { name: 'List 0', exact: true }).waitFor()
    // The size of pages is kept.
    await page.getByLabel('Rows per page').selectOption('10')
    await rows.nth(10).waitFor({ state: 'detached' })
    await page.getByLabel('Rows per page').selectOption('50')
    await page.getByRole('button', { name: 'Customers' }).click()
    await page.getByRole('button', { name: 'Customers' }).click()
    await page
      .getByRole('columnheader', { name: 'Customers' })
      .and(page.locator('[aria-sort=descending]'))
      .waitFor()
    await rows.first().getByRole('link', { name: 'List 42', exact: true }).waitFor()
    await page.getByLabel('Search').fill('ist 77')
    await page.getByText('11 in total').waitFor()
    await page.getByLabel('Type').selectOption('ONDA')
    await page.getByText('No list matches.').waitFor()
    await assertAccessible()
    await page.getByLabel('Search').fill('')
    await page.getByText('1 in total').waitFor()
    // Coming back shows the same again.
    await page.getByRole('link', { name: 'Checkout wave' }).click()
    await page.getByRole('heading', { level: 1, name: 'Checkout wave' }).waitFor()
    await page.getByRole('link', { name: 'All allowlists' }).click()
    await page.getByText('1 in total').waitFor()
    assert.equal(await page.getByLabel('Type').inputValue(), 'ONDA')
  })

  it('makes an explicit list and a wave', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    await visit('/allowlists')
    await page.getByText('No list yet.').waitFor()
    await page.getByRole('button', { name: 'New list' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByLabel('Name').and(page.locator('[aria-invalid=true]:focus')).waitFor()
    await assertAccessible()
    await dialog.getByLabel('Name').fill('VIP')
    await dialog.getByLabel('Id', { exact: true }).fill('vip')
    await dialog.getByLabel('Trusted filter').check()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'VIP' }).waitFor()
    assert.equal((await server.catraca.allowlists.get('vip')).precision, 'trusted')
    await page.getByRole('link', { name: 'All allowlists' }).click()
    await page.getByRole('button', { name: 'New list' }).click()
    await dialog.getByLabel('Name').fill('Launch')
    await dialog.getByLabel('Id', { exact: true }).fill('launch')
    await dialog.getByLabel('Wave (ONDA)').check()
    await dialog.getByLabel('The wave opens to').selectOption('TIME_WINDOW')
    await assertAccessible()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'Launch' }).waitFor()
    const { config } = await server.catraca.allowlists.get('launch')
    assert.equal(config?.strategy, 'TIME_WINDOW')
    assert.ok(config!.startTime! > Date.now(), 'a new wave must not be open')
    await page.getByRole('link', { name: 'All allowlists' }).click()
    await page.getByRole('button', { name: 'New list' }).click()
    await dialog.getByLabel('Name').fill('Share')
    await dialog.getByLabel('Id', { exact: true }).fill('share')
    await dialog.getByLabel('Wave (ONDA)').check()
    await dialog.getByLabel('Share at the start, in percent').fill('1')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: 'Share' }).waitFor()
    const share = await server.catraca.allowlists.get('share')
    assert.deepEqual(share.config, { strategy: 'PERCENTAGE', percentage: 0.01 })
  })

  it('offers to change things to admins alone', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['read'] })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await allowlists.create({
      id: 'wave',
      name: 'Wave',
      type: 'ONDA',
      config: { strategy: 'PERCENTAGE', percentage: 0.1 },
    })
    await visit('/allowlists')
    await page.getByRole('link', { name: 'VIP' }).click()
    await page.getByText('Nobody is on this list yet').waitFor()
    for (const name of [
      'New list',
      'Edit',
      'Delete',
      'Export',
      'Add customer',
      'Rebuild index',
      'Choose a file',
    ]) {
      assert.equal(await page.getByRole('button', { name }).count(), 0, name)
    }
    await assertAccessible()
    await visit('/allowlists/wave')
    await page.getByText('Share that is in').waitFor()
    for (const name of ['Pause now', 'Review the changes', 'Add a step']) {
      assert.equal(await page.getByRole('button', { name }).count(), 0, name)
    }
    assert.ok(await page.getByLabel('The wave opens to').isDisabled())
    await page.getByText('Read-only: changes need a key').waitFor()
    await assertAccessible()
  })

  it('fits a phone, in the dark and in Portuguese', async (t) => {
    const browser = { viewport: { width: 390, height: 800 }, locale: 'pt-BR', colorScheme: 'dark' } as const
    const { page, server, visit, assertAccessible } = await openConsole(t, { browser })
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'vip', name: `Clientes de ${'x'.repeat(60)}`, type: 'FIXA' })
    await allowlists.add('vip', 'a'.repeat(200), { metadata: { plano: 'ouro'.repeat(40) } })
    const ramp = [{ at: Date.now() + 60_000, percentage: 0.5 }]
    const config = { strategy: 'PERCENTAGE' as const, percentage: 0.025, ramp, base: 'vip' }
    await allowlists.create({ id: 'onda', name: 'Onda', type: 'ONDA', config })
    for (const [path, text] of [
      ['/allowlists', 'Nova lista'],
      ['/allowlists/vip', 'Não carregado'],
      ['/allowlists/onda', 'Percentual ao longo do tempo'],
    ] as const) {
      await visit(path)
      await page.getByText(text).first().waitFor()
      await page.waitForLoadState('networkidle')
      assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, path)
      await assertAccessible()
    }
    const share = page.getByLabel('Percentual antes do primeiro passo: Percentual')
    assert.equal(await share.inputValue(), '2,5 %')
    await share.fill('3,5')
    await page.getByLabel('Usar uma rampa pronta').selectOption('slow')
    await page.getByRole('button', { name: 'Revisar as mudanças' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('3,5%').first().waitFor()
    const save = await dialog.getByRole('button', { name: 'Salvar' }).boundingBox()
    assert.ok(save!.y + save!.height <= 800, 'the button is in sight')
    await dialog.getByRole('button', { name: 'Cancelar' }).click()
    await page.getByRole('button', { name: 'Editar' }).click()
    await dialog.getByLabel('Nome').fill(' ')
    await dialog.getByRole('button', { name: 'Salvar' }).click()
    await dialog.getByText('deve ter de 1 a 256 caracteres').first().waitFor()
  })

  it('shows any name as text', async (t) => {
    const { page, server, visit } = await openConsole(t)
    const { allowlists } = server.catraca
    await allowlists.create({ id: 'evil', name: EVIL, type: 'FIXA' })
    const config = { strategy: 'PERCENTAGE', percentage: 0.5, base: 'evil', exclude: [] } as const
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config: { ...config, exclude: [] } })
    page.on('dialog', () => assert.fail('a name was run as a script'))
    const assertText = async () => assert.equal(await page.locator('img[src=x]').count(), 0)
    await visit('/allowlists')
    await page.getByRole('link', { name: EVIL }).click()
    await page.getByRole('heading', { level: 1, name: EVIL }).waitFor()
    assert.ok((await page.title()).startsWith(EVIL))
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByText(EVIL).waitFor()
    await assertText()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill(`${EVIL}!`)
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: `${EVIL}!` }).waitFor()
    await visit('/audit?target=allowlist:evil')
    await page.getByRole('button', { name: /Show details of allowlist.update/ }).click()
    await page
      .getByRole('dialog')
      .getByRole('row', { name: `${EVIL}!` })
      .waitFor()
    await assertText()
    await visit('/allowlists/wave')
    await page.getByText(`50% of the 0 on ${EVIL}!`).waitFor()
    await page.getByLabel('Base list').and(page.locator('input:not([type=hidden])')).click()
    await page.getByRole('option', { name: EVIL }).waitFor()
    await assertText()
  })
})
