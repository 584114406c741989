import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bearer, until } from '../../server/support.js'
import { openConsole, signIn } from '../../support/console.js'

describe('signing in', () => {
  it('is not asked for when the server has no keys', async (t) => {
    const { page, visit, assertAccessible } = await openConsole(t)
    await visit('')
    assert.equal(await page.locator('h1').textContent(), 'Overview')
    assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0)
    await assertAccessible()
  })

  it('takes a key, keeps it in the tabs that are open, and forgets it at the end', async (t) => {
    const { page, server, key, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    await page.goto(`${server.url}/console/settings`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await assertAccessible()
    for (const wrong of ['ctr_wrong', 'a key … in words']) {
      await page.getByLabel('API key').fill(wrong)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('does not know this key').waitFor()
      assert.equal(await page.getByText('cannot be reached').count(), 0)
    }
    await signIn(page, key!)
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    const kept = (await page.evaluate(
      '({ local: JSON.stringify(localStorage), tab: JSON.stringify(sessionStorage), cookie: document.cookie })',
    )) as Record<string, string>
    assert.ok(kept.tab!.includes(key!))
    assert.ok(!kept.local!.includes('ctr_'))
    assert.equal(kept.cookie, '')
    const other = await page.context().newPage()
    await other.goto(`${server.url}/console/settings`)
    await other.getByRole('heading', { name: 'Settings' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out').waitFor()
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    await other.getByText('You signed out in another tab').waitFor()
    assert.equal(await other.evaluate('sessionStorage.length'), 0)
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await visit('/settings')
  })

  it('in one tab signs in the tabs that wait for a key', async (t) => {
    const { page, server, key } = await openConsole(t, { scopes: ['admin'] })
    await page.goto(`${server.url}/console/settings`)
    const other = await page.context().newPage()
    await other.goto(`${server.url}/console/check`)
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(page, key!)
    await other.getByRole('heading', { name: 'Check', level: 1 }).waitFor()
  })

  it('is asked for again when the key is revoked', async (t) => {
    const { page, server, key, visit } = await openConsole(t, {
      scopes: ['admin'],
      server: { keyRefreshMs: 20 },
    })
    await server.catraca.keys.create({ name: 'other', scopes: ['read'] })
    await visit('/settings')
    await page.locator('nav a', { hasText: 'Check' }).click()
    await page.getByRole('heading', { name: 'Check', level: 1 }).waitFor()
    await server.catraca.keys.revoke('tester')
    const refused = async () =>
      (await server.call('GET', '/session', { headers: bearer(key!) })).status === 401
    await until('the revocation is known', refused)
    await page.locator('nav a', { hasText: 'Settings' }).click()
    await page.getByText('no longer accepts your key').waitFor()
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
  })

  it('is asked for again after 30 minutes without a sign of life', async (t) => {
    const { page, visit } = await openConsole(t, { scopes: ['check'], ownPage: true })
    await page.clock.install()
    await visit('/settings')
    await page.clock.fastForward(29 * 60_000)
    await page.keyboard.press('Shift')
    await page.clock.fastForward(29 * 60_000)
    assert.equal(await page.locator('h1').textContent(), 'Settings')
    await page.clock.fastForward(61_000)
    await page.getByText('after 30 minutes without activity').waitFor()
  })
})

describe('the search for anything', () => {
  it('opens by the keyboard and leads to pages, lists and look-ups', async (t) => {
    const { page, server, visit, assertAccessible } = await openConsole(t, { scopes: ['admin'] })
    await server.catraca.allowlists.create({ id: 'vip-2', name: 'Very important', type: 'FIXA' })
    await server.catraca.locks.acquire('claim:important', { ttlMs: 60_000 })
    await visit('/settings')
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Go to' })
    await field.fill('import')
    await page.getByRole('option', { name: /^Very important/ }).waitFor()
    await assertAccessible()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Very important' }).waitFor()
    await page.keyboard.press('Control+k')
    await field.fill('audi')
    await page.getByRole('option', { name: /^Audit/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor()
    await page.getByRole('button', { name: 'Search Ctrl K' }).click()
    await field.fill('claim:important')
    await page.getByRole('option', { name: /Look up this lock/ }).click()
    await page.getByText('Held', { exact: true }).waitFor()
    // The address of a look-up can be sent to a colleague.
    assert.match(page.url(), /\/locks#name=claim%3Aimportant$/)
    await page.reload()
    await page.getByText('Held', { exact: true }).waitFor()
  })
})

describe('the shell', () => {
  it('shows only pages that the key has the scope for', async (t) => {
    const { page, visit } = await openConsole(t, { scopes: ['check'] })
    await visit('')
    assert.deepEqual(await page.locator('nav a').allTextContents(), ['Check', 'Settings'])
    await visit('/audit')
    await page.getByText('It needs the scope admin').waitFor()
    await visit('/nowhere')
    await page.getByText('Page not found').waitFor()
  })

  it('speaks the language of the browser, and another when told', async (t) => {
    const { page, visit } = await openConsole(t, { browser: { locale: 'pt-BR' } })
    await visit('/settings')
    await page.getByRole('heading', { name: 'Configurações' }).waitFor()
    assert.equal(await page.evaluate('document.documentElement.lang'), 'pt-BR')
    await page.getByText('English').click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
  })

  it('is light or dark as the system, or as told', async (t) => {
    const { page, visit, assertAccessible } = await openConsole(t, { browser: { colorScheme: 'dark' } })
    await visit('/settings')
    const scheme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme')
    assert.equal(await scheme(), 'dark')
    await assertAccessible()
    await page.getByText('Light', { exact: true }).click()
    assert.equal(await scheme(), 'light')
    await page.reload()
    await page.locator('h1').waitFor()
    assert.equal(await scheme(), 'light')
  })

  it('is used by keyboard: skip link first, the heading of a new page gets the focus', async (t) => {
    const { page, visit } = await openConsole(t)
    await visit('/settings')
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content')
    await page.locator('nav a', { hasText: 'Check' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check', level: 1 }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1')
    assert.equal(await page.title(), 'Check · Catraca')
  })

  it('fits a phone: the menu opens, leads on, and closes', async (t) => {
    const { page, visit, assertAccessible } = await openConsole(t, {
      browser: { viewport: { width: 390, height: 800 }, hasTouch: true },
    })
    await visit('/settings')
    const width = await page.evaluate('document.documentElement.scrollWidth')
    assert.ok(Number(width) <= 390, `the page is ${width} wide`)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('nav a', { hasText: 'Check' }).click()
    await page.getByRole('heading', { name: 'Check', level: 1 }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Menu' }).getAttribute('aria-expanded'), 'false')
    await assertAccessible()
    // Long names do not widen the page.
    await visit(`/check?customer=${'c'.repeat(120)}&lists=${'l'.repeat(80)}`)
    await page.getByText('no list has the id').waitFor()
    await page.getByText('This customer is on no explicit list.').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
  })
})
