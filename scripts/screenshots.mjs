// Takes screenshots of every page of the console, light and dark, for desktop and phone, from the build in dist/. The
// server is really used meanwhile: customers are checked, limits are acquired, a wave is paused. Nothing is invented. `node scripts/screenshots.mjs [--out docs/images]
// [--only overview,check] [--language en-US]`
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { chromium } from 'playwright-core'
import { fillDemo, useServer } from './screenshot-data.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'docs', 'images') },
    only: { type: 'string' },
    language: { type: 'string', default: 'en-US' },
  },
})
const load = (path) => import(pathToFileURL(join(root, 'dist', 'src', path)).href)

/** A page, and the actions before the picture. */
const PAGES = {
  'sign-in': { path: '', signedOut: true },
  check: { path: '/check?customer=ana.souza&lists=vip,new-home,blocked' },
  allowlists: { path: '/allowlists' },
  allowlist: { path: '/allowlists/vip' },
  wave: { path: '/allowlists/pix-limits' },
  limits: { path: '/limits' },
  'limits-resource': { path: '/limits/resources/payments' },
  'limits-entity': { path: '/limits/entities/tenant%3Aacme/payments' },
  'limits-preview': {
    path: '/limits/entities/tenant%3Aacme/payments/edit',
    act: async (page) => {
      await page.locator('.limit-grid input').first().fill('50')
      await page.locator('.edit-form button[type=submit]').click()
    },
  },
  idempotency: { path: '/idempotency', act: (page) => look(page, ['PRODUCE', 'order-1042']) },
  locks: { path: '/locks', act: (page) => look(page, ['claim:8f2c']) },
  codes: { path: '/codes', act: (page) => look(page, ['ana@example.com']) },
  tokens: {
    path: '/tokens',
    act: async (page) => {
      await page.locator('.lookup select').selectOption('subject')
      await look(page, ['user-7'])
    },
  },
  audit: { path: '/audit' },
  'audit-entry': { path: '/audit', act: (page) => page.locator('td button').first().click() },
  settings: { path: '/settings' },
  'settings-create-key': {
    path: '/settings',
    act: (page) => page.locator('.panel-head button').first().click(),
  },
  jump: {
    path: '/settings',
    act: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').first().fill('pi')
    },
  },
  // The last one: the server has been in use for some minutes then.
  overview: { path: '/?minutes=5' },
}
async function look(page, values) {
  const fields = page.locator('.lookup input')
  for (const [i, value] of values.entries()) await fields.nth(i).fill(value)
  await page.locator('.lookup button[type=submit]').click()
  await page.locator('.record-facts').waitFor()
}

const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } }

const only = options.only?.split(',')
const pages = Object.entries(PAGES).filter(([name]) => only === undefined || only.includes(name))

async function takePictures(browser, url, key) {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark']) {
      for (const [name, { path, signedOut, act }] of pages) {
        const context = await browser.newContext({ viewport, colorScheme, locale: options.language })
        const page = await context.newPage()
        if (!signedOut) await page.addInitScript(`sessionStorage.setItem('catraca.key', '${key}')`)
        await page.goto(`${url}/console${path}`)
        await page.locator('h1').waitFor()
        await page.waitForLoadState('networkidle')
        await act?.(page)
        await page.waitForTimeout(500)
        await page.screenshot({
          path: join(resolve(options.out), `${name}-${size}-${colorScheme}.png`),
          fullPage: true,
        })
        await context.close()
      }
    }
  }
}

mkdirSync(resolve(options.out), { recursive: true })
const [{ openCatraca }, { startServer }] = await Promise.all([load('index.js'), load('server/index.js')])
const catraca = await openCatraca({ store: 'memory:' })
const server = await startServer(catraca, { port: 0, logger: pino({ level: 'silent' }), keyRefreshMs: 100 })
const browser = await chromium.launch({
  executablePath: String(spawnSync('which', ['chromium-headless-shell', 'chromium']).stdout).split('\n')[0],
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
})
try {
  const key = await fillDemo(catraca, server.url)
  const stop = useServer(server.url, key)
  await takePictures(browser, server.url, key).finally(stop)
} finally {
  await browser.close()
  await server.stop()
  await catraca.close()
}
