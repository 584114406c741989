import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { describe, type TestContext } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { OpenOptions } from '../../src/app/open-catraca.js'
import type { Scope } from '../../src/guards/access/scopes.js'
import type { ServerOptions } from '../../src/server/index.js'
import { openServer, type TestServer } from '../server/support.js'
import { assertAccessible } from './accessible.js'
import { borrowPage } from './browser.js'
import { PATIENCE_MS } from './patient.js'

/**
 * Loads the tests of a directory into this process, so that they share one browser: to start it, and to load the server,
 * takes longer than most of the tests. A suite loads them: without one the file would end, and its browser with it, when
 * those that are loaded are over before the next is, as they are when only some tests are chosen by their names.
 */
export function loadTests(directory: URL): void {
  const names = readdirSync(directory).filter((name) => name.endsWith('.js'))
  describe('the console', async () => {
    for (const name of names.sort()) await import(new URL(name, directory).href)
  })
}

/**
 * Accepts the connections for the servers of all tests: each test has a server of its own, and the browser finds all of
 * them at one address, whose scripts it keeps.
 */
const door = createServer({ noDelay: true }, (socket) => {
  if (behindDoor === undefined) socket.destroy()
  else behindDoor.take(socket)
})
let behindDoor: TestServer | undefined
door.listen(0, '127.0.0.1')
await once(door, 'listening')
door.unref()
const { port } = door.address() as AddressInfo

export interface ConsoleOptions {
  /** Scopes of the key to sign in with; without, the server has no keys. */
  scopes?: Scope[]
  browser?: BrowserContextOptions
  /** For tests that change the browser itself, such as its clock: nobody uses their page after them. */
  ownPage?: boolean
  server?: ServerOptions
  open?: OpenOptions
}

/** Where the browser finds the servers. */
export const consoleUrl = (): string => `http://127.0.0.1:${port}`

export interface TestConsole {
  server: TestServer
  page: Page
  /** The key that was made, when there is one. */
  key: string | undefined
  /** Opens a page of the console, such as `/check`, and is signed in. */
  visit(path: string): Promise<void>
  /** Fails when the page has serious faults of accessibility. */
  assertAccessible(): Promise<void>
  /** What the browser complained of, or asked of others; must be empty at the end. Tests may clear what they expect. */
  complaints: string[]
}

/** The types of the oldest Node do not know it yet. */
const hasPassed = (t: TestContext): boolean => (t as TestContext & { passed: boolean }).passed

/** A server over an empty store, and a browser for its console. */
export async function openConsole(t: TestContext, options: ConsoleOptions = {}): Promise<TestConsole> {
  let key: string | undefined
  const server = await openServer(
    { host: '127.0.0.1', port, listens: false, keyRefreshMs: PATIENCE_MS, drainMs: 0, ...options.server },
    options.open ?? {},
    async ({ keys }) => {
      if (options.scopes === undefined) return
      key = (await keys.create({ name: 'tester', scopes: options.scopes })).key
    },
  )
  behindDoor = server
  const { page, complaints, giveBack } = await borrowPage(`${server.url}/live`, options.browser).catch(
    (error) => server.close().then(() => Promise.reject(error)),
  )
  t.after(async () => {
    await giveBack(hasPassed(t) && options.ownPage !== true).finally(server.close)
    assert.deepEqual(complaints, [], 'the browser complained')
  })
  let hasKey = key === undefined
  const visit = async (path: string): Promise<void> => {
    // As a tab that has signed in; the form for it has tests of its own.
    if (!hasKey) await page.evaluate(`sessionStorage.setItem('catraca.key', '${key}')`)
    hasKey = true
    await page.goto(`${server.url}/console${path}`)
    if (key !== undefined && (await needsSignIn(page))) await signIn(page, key)
    await page.locator('h1').waitFor()
  }
  return { server, page, key, visit, assertAccessible: () => assertAccessible(page), complaints }
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
