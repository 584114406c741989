import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { until } from '../../../src/conformance/support.js'
import { EmbeddedFleet } from '../../../src/engines/embedded/fleet/store.js'
import { openConsole } from '../../support/console.js'
import { temporaryDirectory } from '../../support/temporary.js'

const PODS = 40

/** What a pod says; the first one runs another version, is behind, and follows fewer lists. */
const facts = (pod: number) => ({
  name: `pod-${String(pod).padStart(2, '0')}`,
  pid: 7,
  version: pod === 0 ? '9.9.9' : '1.0.0',
  engine: 'redis',
  startedAt: new Date(Date.now() - 90_000_000).toISOString(),
  lists: pod === 0 ? 1 : 2,
  staleLists: pod === 0 ? 1 : 0,
  feedLagMs: pod === 0 ? 1234 : 20,
  checksPerSecond: 100,
  lastMinute: { checks: 6000, errors: pod === 0 ? 5 : 0, degraded: 0 },
  followed: pod === 0 ? ['vip'] : ['vip', 'beta'],
})

it('the fleet has a row for each pod, sums, what is wrong, and loses a pod that dies', async (t) => {
  const directory = temporaryDirectory()
  const store = new EmbeddedFleet(join(directory, 'v2', 'fleet'))
  const living = new Set(Array.from({ length: PODS }, (_, pod) => pod))
  const announce = () =>
    Promise.all(
      Array.from(living, (pod) =>
        store.announce(`id-${pod}`, JSON.stringify(facts(pod)), store.expireMs, Date.now()),
      ),
    )
  const { page, visit, assertAccessible } = await openConsole(t, {
    scopes: ['read'],
    open: { store: `embedded:${directory}` },
  })
  await announce()
  const timer = setInterval(() => void announce().catch(() => {}), 500)
  t.after(() => clearInterval(timer))
  await visit('/fleet')
  const rows = page.locator('[role=group][aria-label="Processes"] tbody tr')
  await until('a row for each', async () => (await rows.count()) === PODS)
  const tiles = await page
    .locator('.tiles')
    .textContent()
    .then((text) => text ?? '')
  assert.match(tiles, /Processes\s*40/)
  assert.match(tiles, /4,000\/s/)
  assert.match(tiles, /1,?234\s*ms|1\.23\s*s/)
  assert.match(
    await page
      .locator('.notice')
      .textContent()
      .then((text) => text ?? ''),
    /Mixed versions.*1\.0\.0 on 39, 9\.9\.9 on 1/s,
  )
  assert.match(
    await rows
      .first()
      .textContent()
      .then((text) => text ?? ''),
    /pod-00.*9\.9\.9, unlike most.*1, 1 stale/s,
  )
  const missing = page.locator('[role=group][aria-label="Lists that some processes do not have in memory"]')
  assert.match(
    await missing
      .locator('tbody')
      .textContent()
      .then((text) => text ?? ''),
    /beta\s*pod-00/,
  )
  await page.locator('figure.chart canvas').waitFor()
  await assertAccessible()

  living.delete(0)
  await until('the dead pod is gone', async () => (await rows.count()) === PODS - 1)
  assert.equal(await page.locator('.notice').count(), 0)
  assert.match(
    await page
      .locator('.tiles')
      .textContent()
      .then((text) => text ?? ''),
    /Processes\s*39/,
  )

  // From the overview, by keyboard, and named as what it is.
  await page.getByRole('link', { name: 'Overview' }).click()
  const sums = page.getByRole('region', { name: 'Fleet: all processes' })
  await until('the sums of all', async () =>
    /Processes\s*39/.test(await sums.textContent().then((text) => text ?? '')),
  )
  await sums.getByRole('link').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Fleet', level: 1 }).waitFor()
})

it('the fleet says on a phone and in Portuguese that it is switched off', async (t) => {
  const { page, visit, assertAccessible } = await openConsole(t, {
    browser: { locale: 'pt-BR', viewport: { width: 390, height: 844 } },
    open: { fleet: { enabled: false } },
  })
  await visit('/fleet')
  assert.match(
    await page
      .locator('.notice')
      .textContent()
      .then((text) => text ?? ''),
    /A frota está desligada/,
  )
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  await assertAccessible()
  await visit('/')
  await page.locator('.panel').first().waitFor()
  assert.equal(await page.getByText('Frota: todos os processos').count(), 0)
})
