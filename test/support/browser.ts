import { spawnSync } from 'node:child_process'
import { after } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { PATIENCE_MS } from './patient.js'

/** The first line is what Playwright disables too: this list replaces its list. */
const DISABLED_FEATURES = [
  ...['HttpsUpgrades', 'LensOverlay', 'MediaRouter', 'OptimizationHints', 'PaintHolding', 'AimEnabled'],
  // Else each window renders two hidden pages for its address bar, which costs more than a page of the console.
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
]
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  // No page lives long enough for optimised code to pay for its compilation.
  '--js-flags=--no-opt --no-maglev',
  '--disable-background-networking',
  '--disable-dev-shm-usage',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
]
/** Without motion nobody waits for an animation. The tests over Redis keep the motion. */
const BROWSER: BrowserContextOptions = { locale: 'en-US', reducedMotion: 'reduce' }

interface BrowserPage {
  page: Page
  /** What the browser complained of, or asked of others, since it was lent. */
  complaints: string[]
  /** After a test that changed nothing for good, the next may have the page. */
  giveBack(isUsable: boolean): Promise<void>
}

let browser: Promise<Browser> | undefined
/** Pages that no test has now, by the options of their context. */
const idle = new Map<string, BrowserPage>()

// Registered when this file is loaded: a hook that a test registers would end the browser with that test.
after(async () => (await browser)?.close())

/** One browser for all tests of the process. */
function theBrowser(): Promise<Browser> {
  if (browser === undefined) {
    // The one without windows takes a fifth less processor time.
    const found = spawnSync('which', ['chromium-headless-shell', 'chromium'], { encoding: 'utf8' }).stdout
    browser = chromium.launch({ executablePath: found.split('\n')[0]!, args: ARGUMENTS })
  }
  return browser
}

/**
 * A page that shows nothing but `restUrl`, and remembers nothing. It may be that of an earlier test: a browser that has the
 * scripts already, read and compiled, loads the console with a third of the processor time.
 */
export async function borrowPage(restUrl: string, options: BrowserContextOptions = {}): Promise<BrowserPage> {
  const kind = JSON.stringify(options)
  const lent = idle.get(kind) ?? (await newPage(restUrl, kind, options))
  idle.delete(kind)
  lent.complaints.length = 0
  return lent
}

async function newPage(restUrl: string, kind: string, options: BrowserContextOptions): Promise<BrowserPage> {
  const context = await (await theBrowser()).newContext({ ...BROWSER, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const complaints = listen(page, new URL(restUrl).origin)
  await page.goto(restUrl)
  const lent: BrowserPage = {
    page,
    complaints,
    async giveBack(isUsable) {
      if (!isUsable) return context.close()
      page.removeAllListeners('dialog')
      await page.unrouteAll()
      for (const other of context.pages()) if (other !== page) await other.close()
      // Where the pointer rests, the next page would look as if it were pointed at.
      await page.mouse.move(0, 0)
      await page.goto(restUrl)
      await page.evaluate('sessionStorage.clear(), localStorage.clear()')
      idle.set(kind, lent)
    },
  }
  return lent
}

/** Errors of scripts, breaches of the policy, and requests to other hosts. */
function listen(page: Page, origin: string): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const { url: source } = message.location()
    // The browser reports refusals by the API too; those are answers, and the tests look at what is shown.
    const isAnswer = message.text().startsWith('Failed to load resource') && !source.includes('/console')
    if ((message.type() === 'error' || message.type() === 'warning') && !isAnswer) {
      complaints.push(`${message.type()}: ${message.text()}`)
    }
  })
  page.on('request', (request) => {
    const asked = request.url()
    if (!asked.startsWith(`${origin}/`) && !asked.startsWith('data:')) complaints.push(`asked for ${asked}`)
    if (/ctr_/.test(asked)) complaints.push('a key in an address')
  })
  return complaints
}
