import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, type TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { OpenOptions } from '../../src/app/open-catraca.js'
import type { Scope } from '../../src/guards/access/scopes.js'
import type { ServerOptions } from '../../src/server/index.js'
import { serve, type TestServer } from '../server/support.js'

/** The first line is what Playwright disables too: this list replaces its list. */
const DISABLED_FEATURES = [
  ...['HttpsUpgrades', 'LensOverlay', 'MediaRouter', 'OptimizationHints', 'PaintHolding', 'AimEnabled'],
  // Else each window renders two hidden pages for its address bar, which costs more than a page of the console.
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
]
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-dev-shm-usage',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
]
/** Without motion nobody waits for an animation. The tests over Redis keep the motion. */
const BROWSER: BrowserContextOptions = { locale: 'en-US', reducedMotion: 'reduce' }
/** The machine may be busy; a test that waits this long has failed. */
const PATIENCE_MS = 60_000

/** How long the product waits for its store is proved elsewhere. */
const PATIENT: OpenOptions = {
  embedded: { writeTimeoutMs: PATIENCE_MS },
  limits: { timeoutMs: PATIENCE_MS },
  idempotency: { timeoutMs: PATIENCE_MS },
  codes: { timeoutMs: PATIENCE_MS },
  locks: { timeoutMs: PATIENCE_MS },
}

let browser: Promise<Browser> | undefined

// Registered when this file is loaded: a hook that a test registers would end the browser with that test.
after(async () => (await browser)?.close())

/**
 * Loads the tests of a directory into this process, so that they share one browser: to start it, and to load the server,
 * takes longer than most of the tests.
 */
export async function loadTests(directory: URL): Promise<void> {
  const names = readdirSync(directory).filter((name) => name.endsWith('.js'))
  for (const name of names.sort()) await import(new URL(name, directory).href)
}

/** One browser for all tests of the process. */
export function theBrowser(): Promise<Browser> {
  if (browser === undefined) {
    // The one without windows takes a fifth less processor time.
    const found = spawnSync('which', ['chromium-headless-shell', 'chromium'], { encoding: 'utf8' }).stdout
    browser = chromium.launch({ executablePath: found.split('\n')[0]!, args: ARGUMENTS })
  }
  return browser
}

export interface ConsoleOptions {
  /** Scopes of the key to sign in with; without, the server has no keys. */
  scopes?: Scope[]
  browser?: BrowserContextOptions
  server?: ServerOptions
  open?: OpenOptions
}

export interface TestConsole {
  server: TestServer
  page: Page
  /** The key that was made, when there is one. */
  key: string | undefined
  /** Opens a page of the console, such as `/check`. */
  visit(path: string): Promise<void>
  /** Fails when the page has serious faults of accessibility. */
  assertAccessible(): Promise<void>
  /** What the browser complained of, or asked of others; must be empty at the end. Tests may clear what they expect. */
  complaints: string[]
}

/** A server over an empty store, and a browser that is signed in to its console. */
export async function openConsole(t: TestContext, options: ConsoleOptions = {}): Promise<TestConsole> {
  const server = await serve(t, options.server, { ...PATIENT, ...options.open })
  const key = options.scopes === undefined ? undefined : await makeKey(server, options.scopes)
  const context = await (await theBrowser()).newContext({ ...BROWSER, ...options.browser })
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const complaints = listen(page, server.url)
  t.after(async () => {
    await context.close()
    assert.deepEqual(complaints, [], 'the browser complained')
  })
  const visit = async (path: string): Promise<void> => {
    await page.goto(`${server.url}/console${path}`)
    if (key !== undefined && (await needsSignIn(page))) await signIn(page, key)
    await page.locator('h1').waitFor()
  }
  return { server, page, key, visit, assertAccessible: () => assertAccessible(page), complaints }
}

async function makeKey(server: TestServer, scopes: Scope[]): Promise<string> {
  const { key } = await server.catraca.keys.create({ name: 'tester', scopes })
  const deadline = Date.now() + PATIENCE_MS
  while (!server.keyed && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
  return key
}

async function needsSignIn(page: Page): Promise<boolean> {
  await page.locator('h1').waitFor()
  return (await page.locator('.sign-in').count()) > 0
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.locator('input[type=password]').fill(key)
  await page.locator('button[type=submit]').click()
  await page.locator('nav').waitFor({ state: 'attached' })
}

/** Errors of scripts, breaches of the policy, and requests to other hosts. */
function listen(page: Page, url: string): string[] {
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
    if (!asked.startsWith(`${url}/`) && !asked.startsWith('data:')) complaints.push(`asked for ${asked}`)
    if (/ctr_/.test(asked)) complaints.push('a key in an address')
  })
  return complaints
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  impact: string
  nodes: { html: string; failureSummary: string }[]
}

/**
 * Colours are judged when nothing moves any more. What turns for ever does not change colours, and what is taken away while
 * it moves may never tell its end.
 */
const STAND_STILL = `(async () => {
  const moving = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
  const ended = Promise.allSettled(moving.map(({ finished }) => finished))
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 3000))])
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
})()`
/** What is behind a dialog is not shown to anybody, and was judged when it was. */
const RUN_AXE = `axe
  .run(document.querySelector('[aria-modal=true]') ?? document, { resultTypes: ['violations'] })
  .then(({ violations }) => violations)`

/** Evaluated by the debugger, which no policy of the page hinders. */
async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(STAND_STILL)
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axeSource)
  const violations = (await page.evaluate(RUN_AXE)) as Violation[]
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html}\n${node.failureSummary}`).join('\n')}`,
    )
  assert.deepEqual(serious, [], 'accessibility')
}
