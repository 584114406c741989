import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { borrowPage } from '../support/browser.js'
import { openServer, until } from './support.js'

const BACKEND = fileURLToPath(new URL('../../../examples/flags-page/backend.mjs', import.meta.url))

/** The example, before the server of the test. */
async function startBackend(t: TestContext, url: string, key: string): Promise<string> {
  const env = { ...process.env, CATRACA_URL: url, CATRACA_KEY: key, PORT: '0' }
  const backend = spawn(process.execPath, [BACKEND], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    backend.kill()
    if (backend.exitCode === null && backend.signalCode === null) await once(backend, 'exit')
  })
  for await (const line of createInterface({ input: backend.stdout })) {
    const address = /http:\/\/\S+/.exec(line)?.[0]
    if (address !== undefined) return address
  }
  throw new Error('the backend ended')
}

describe('the web SDK in a browser, over a backend that holds the key', () => {
  it('has the flags of who is signed in, and learns of changes by the event stream', async (t) => {
    const server = await openServer(
      { flags: { exposed: ['new-*'] } },
      { store: 'memory:' },
      async (catraca) => {
        const config = { strategy: 'EXPLICIT_LIST' as const, customerIds: ['ana'] }
        await catraca.allowlists.create({ id: 'new-checkout', name: 'New checkout', type: 'ONDA', config })
      },
    )
    t.after(() => server.close())
    const { key } = await server.catraca.keys.create({ name: 'page', scopes: ['check'] })
    const origin = await startBackend(t, server.url, key)
    const { page, complaints, giveBack } = await borrowPage(origin)
    const asked: string[] = []
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (pathname === '/ofrep/v1/evaluate/flags') asked.push(String(response.status()))
    })
    await page.goto(origin)
    const shows = (words: string) => page.getByText(words, { exact: true }).waitFor()
    await shows('new checkout')
    // The first event repeats what the page has: the flags have not changed.
    await until('nothing new is answered with 304', () => asked.includes('304'))

    await server.catraca.allowlists.pause('new-checkout')
    await shows('old checkout')
    assert.equal(await page.locator('#checkout').getAttribute('data-reason'), 'DISABLED')
    await server.catraca.allowlists.resume('new-checkout')
    await shows('new checkout')

    await page.getByLabel('Customer').fill('bob')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await shows('old checkout')
    assert.deepEqual(complaints, [])
    await giveBack(false)
  })
})
