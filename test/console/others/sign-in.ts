import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { ManualClock } from '../../../src/core/clock.js'
import type { SignInOptions } from '../../../src/guards/access/sign-in-options.js'
import { type ConsoleOptions, consoleUrl, openConsole } from '../../support/console.js'
import { signInOptions, startProvider } from '../../support/oidc.js'

async function openWithProvider(
  t: TestContext,
  signIn: Partial<SignInOptions> = {},
  more: ConsoleOptions = {},
) {
  const provider = await startProvider(consoleUrl())
  provider.people.set('ann', { groups: ['platform'], email: 'ann@example.com' })
  provider.people.set('bob', { groups: ['team-a'], email: 'bob@example.com' })
  provider.people.set('eve', { groups: [] })
  t.after(provider.close)
  const server = { signIn: signInOptions(provider, consoleUrl(), signIn) }
  // The cookies of a person would be those of the next test.
  const opened = await openConsole(t, { ...more, ownPage: true, server })
  const url = (path: string) => `${consoleUrl()}/console${path}`
  return { ...opened, provider, url }
}

/** On the page of the provider. */
async function beAt(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { name: 'Provider' }).waitFor()
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Go on' }).click()
}

describe('signing in with a provider', () => {
  it('leads there and back by keyboard, shows who it is, and ends the session in both places', async (t) => {
    const { page, server, url, assertAccessible, complaints, provider } = await openWithProvider(t, {
      label: 'Example Corp',
    })
    await page.goto(url('/audit?search=a'))
    const enter = page.getByRole('link', { name: 'Sign in with Example Corp' })
    await enter.waitFor()
    await assertAccessible()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Sign in with Example Corp')
    await page.keyboard.press('Enter')
    await beAt(page, 'ann')
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    assert.equal(page.url(), url('/audit?search=a'))
    const cookies = await page.context().cookies(consoleUrl())
    const [session] = cookies.filter(({ name }) => name === 'catraca_session')
    assert.deepEqual([session!.httpOnly, session!.sameSite, session!.path], [true, 'Strict', '/'])
    assert.deepEqual(
      cookies.filter(({ name }) => name === 'catraca_signing_in'),
      [],
    )
    const seen = await page.evaluate('[document.cookie, sessionStorage.length, location.search]')
    assert.ok(!JSON.stringify(seen).includes('catraca_'))

    await page.getByRole('button', { name: 'Signed in as ann@example.com' }).click()
    await page.getByText('Id at the provider').waitFor()
    assert.ok(await page.getByText('platform', { exact: true }).isVisible())
    await assertAccessible()
    await page.keyboard.press('Escape')
    await server.catraca.allowlists.create({ id: 'vip', name: 'V', type: 'FIXA' })
    const other = await page.context().newPage()
    await other.goto(url('/allowlists'))
    await other.getByText('vip').first().waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${provider.issuer}/session/end**`)
    await page.locator('button[value=yes], button[type=submit]').first().click()
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).waitFor()
    await other.locator('nav a', { hasText: 'Audit' }).click()
    await other.getByText('Your session has ended').waitFor()
    await other.close()
    complaints.splice(0)
  })

  it('leaves nothing of the session of whoever was at the browser before', async (t) => {
    const { page, url, complaints } = await openWithProvider(t, { prompt: 'login' })
    const begin = () => page.goto(`${consoleUrl()}/sign-in?returnTo=/console/allowlists`)
    const session = async () => {
      const cookies = await page.context().cookies(consoleUrl())
      return cookies.find(({ name }) => name === 'catraca_session')!.value
    }
    await begin()
    await beAt(page, 'ann')
    await page.getByRole('button', { name: 'Signed in as ann@example.com' }).waitFor()
    const before = await session()
    await begin()
    await beAt(page, 'bob')
    await page.getByRole('button', { name: 'Signed in as bob@example.com' }).waitFor()
    assert.equal(page.url(), url('/allowlists'))
    assert.notEqual(await session(), before)
    const headers = { cookie: `catraca_session=${before}`, 'sec-fetch-site': 'same-origin' }
    assert.equal((await fetch(`${consoleUrl()}/session`, { headers })).status, 401)
    complaints.splice(0)
  })

  it('says on a phone, in Portuguese, why somebody is not let in, and takes a key all the same', async (t) => {
    const { page, url, key, assertAccessible, complaints } = await openWithProvider(
      t,
      {},
      {
        scopes: ['check'],
        browser: { locale: 'pt-BR', viewport: { width: 390, height: 800 }, hasTouch: true },
      },
    )
    await page.goto(url('/'))
    await page.getByRole('link', { name: 'Entrar com a conta da empresa' }).click()
    await beAt(page, 'eve')
    await page.getByText('nenhum dos seus grupos tem um papel aqui').waitFor()
    assert.equal(page.url(), url('/'), 'the reason is not kept in the address')
    await assertAccessible()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    await page.getByRole('button', { name: 'Usar uma chave de API' }).click()
    await page.getByLabel('Chave de API').fill(key!)
    await page.getByRole('button', { name: 'Entrar', exact: true }).click()
    await page.getByRole('button', { name: 'Menu' }).waitFor()
    complaints.splice(0)
  })

  it('asks for nothing that somebody with limits may not see', async (t) => {
    const { page, url, server, complaints } = await openWithProvider(t)
    const limits = { rpm: { capacity: 5, refillPeriodSeconds: 60 } }
    // On every level: where nothing is configured the server answers 404, also to those who may see everything.
    const resource = 'team-a-api'
    await server.catraca.limits.setConfig({ level: 'system', resource }, { limits })
    await server.catraca.limits.setConfig({ level: 'resource', resource }, { limits })
    await server.catraca.limits.setConfig({ level: 'entity', entity: 'e', resource }, { limits })
    await server.catraca.limits.acquire({ entity: 'e', resource })
    await page.goto(url('/allowlists'))
    await page.getByRole('link', { name: 'Sign in with' }).click()
    await beAt(page, 'bob')
    await page.locator('nav').waitFor()
    const refused: string[] = []
    page.on('response', (answer) => {
      if (answer.status() >= 400) refused.push(`${answer.status()} ${answer.url()}`)
    })
    complaints.splice(0)
    const menu = await page.locator('nav a').allTextContents()
    assert.deepEqual(menu, ['Overview', 'Check', 'Allowlists', 'Limits', 'Audit', 'Settings'])
    for (const path of ['/', '/check', '/allowlists', '/limits', '/audit', '/settings']) {
      await page.goto(url(path))
      await page.locator('h1').waitFor()
      await page.waitForLoadState('networkidle')
    }
    await page.goto(url('/limits/entities/e/team-a-api'))
    await page.getByRole('heading', { name: 'e', exact: true }).waitFor()
    await page.locator('.level-panels').waitFor()
    await page.waitForLoadState('networkidle')
    assert.deepEqual(refused, [])
  })

  it('shows somebody with limits what they reach, and ends when the provider no longer knows them', async (t) => {
    const clock = new ManualClock(Date.now())
    const { page, url, server, provider, complaints } = await openWithProvider(
      t,
      {},
      { open: { clock }, browser: { viewport: { width: 390, height: 800 }, hasTouch: true } },
    )
    for (const id of ['team-a-one', 'team-b-one']) {
      await server.catraca.allowlists.create({ id, name: `The list ${id}`, type: 'FIXA' })
    }
    await page.goto(url('/allowlists'))
    await page.getByRole('link', { name: 'Sign in with' }).click()
    await beAt(page, 'bob')
    await page.getByText('team-a-one').first().waitFor()
    assert.equal(await page.getByText('team-b-one').count(), 0)
    await page.getByRole('button', { name: 'Signed in as bob@example.com' }).click()
    await page.getByText('team-a-*').first().waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Menu' }).click()
    assert.equal(await page.locator('nav a', { hasText: 'Locks' }).count(), 0)
    provider.people.delete('bob')
    clock.advance(10 * 60_000)
    await page.locator('nav a', { hasText: 'Check' }).click()
    await page.reload()
    await page.getByRole('link', { name: 'Sign in with' }).waitFor()
    complaints.splice(0)
  })
})
