/**
 * The web console in a real browser, over a list of a million customers: on the embedded store, and on Redis. What
 * people do first is done, its outcome is looked at in the store, and the time until it is on the screen is measured.
 * Arguments: --customers 1000000 --redisCustomers 200000
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pino } from 'pino'
import { chromium, type Page } from 'playwright-core'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { startServer } from '../../src/server/index.js'
import { startSingle } from '../../test/support/redis/index.js'
import { demand, type Figures, inTemporaryDirectory, whenStarted } from '../support/proof.js'

const SIZES = { customers: 1_000_000, redisCustomers: 200_000 }
const LIST = 'big'
const ROWS_AT_ONCE = 5000

export function run(given: Partial<typeof SIZES>): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  return inTemporaryDirectory(async (files) => {
    const embedded = await visit(`embedded:${join(files, 'store')}`, sizes.customers)
    const redis = await startSingle()
    try {
      const onRedis = await visit(redis.storeUrl, sizes.redisCustomers)
      return { ...named('embedded', embedded), ...named('redis', onRedis) }
    } finally {
      await redis.stop()
    }
  })
}

const named = (store: string, figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${store}_${name}`, value]))

const customer = (i: number): string => `customer-${String(i).padStart(9, '0')}`

async function* rows(count: number): AsyncGenerator<Buffer> {
  for (let i = 0; i < count; i += ROWS_AT_ONCE) {
    const part = Array.from({ length: Math.min(ROWS_AT_ONCE, count - i) }, (_, j) => customer(i + j))
    yield Buffer.from(`${part.join('\n')}\n`)
  }
}

async function visit(store: string, count: number): Promise<Figures> {
  const catraca = await openCatraca({ store })
  const server = await startServer(catraca, { port: 0, logger: pino({ level: 'silent' }) })
  const executablePath = String(spawnSync('which', ['chromium']).stdout).trim()
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
  const browser = await chromium.launch({ executablePath, args })
  try {
    await catraca.allowlists.create({ id: LIST, name: 'Everybody', type: 'FIXA' })
    await catraca.allowlists.import(LIST, rows(count), { format: 'text' })
    const page = await browser.newPage({ locale: 'en-US', viewport: { width: 1280, height: 860 } })
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    const figures = await walk(page, `${server.url}/console`, catraca, count)
    demand(errors.length === 0, `the page failed: ${errors.join('; ')}`)
    return { customers: count, ...figures }
  } finally {
    await browser.close()
    await server.stop()
    await catraca.close()
  }
}

async function walk(page: Page, url: string, catraca: Catraca, count: number): Promise<Figures> {
  const figures: Figures = {}
  const timed = async (name: string, act: () => Promise<unknown>): Promise<void> => {
    const begin = performance.now()
    await act()
    figures[`${name}Ms`] = Math.round(performance.now() - begin)
  }
  await timed('firstLoad', async () => {
    await page.goto(url)
    await page.getByRole('heading', { name: 'Engines' }).waitFor()
  })
  await timed('lists', async () => {
    await page.goto(`${url}/allowlists`)
    await page.getByText(count.toLocaleString('en-US')).first().waitFor()
  })
  await timed('list', async () => {
    await page.goto(`${url}/allowlists/${LIST}`)
    await page.getByText(customer(0)).first().waitFor()
  })
  await timed('nextPageOfMembers', async () => {
    await page.getByRole('button', { name: 'Next page' }).last().click()
    await page.getByText(customer(0)).first().waitFor({ state: 'hidden' })
  })
  await timed('checkMember', () => checked(page, url, customer(count - 1), 'Allowed'))
  await timed('checkStranger', () => checked(page, url, 'nobody', 'Denied'))
  await catraca.allowlists.remove(LIST, customer(7))
  await timed('checkRemoved', () => checked(page, url, customer(7), 'Denied'))
  return figures
}

async function checked(page: Page, url: string, id: string, verdict: string): Promise<void> {
  await page.goto(`${url}/check?customer=${id}&lists=${LIST}`)
  await page.locator('.verdict').getByText(verdict, { exact: true }).waitFor()
}

await whenStarted(import.meta.url, 'console', SIZES, run)
