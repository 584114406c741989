import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsole } from '../../support/console.js'

const PAGES = [
  '/limits',
  '/limits/new',
  '/limits/resources/chat',
  '/limits/resources/chat/edit/resource',
  '/limits/entities/tenant%3A1/chat',
]

describe('the pages of limits', () => {
  it('fit a phone, and are readable in the dark', async (t) => {
    const browser = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
    const { page, server, visit, assertAccessible } = await openConsole(t, { browser })
    const { limits } = server.catraca
    const requests = { capacity: 1, refillPeriodSeconds: 3600, algorithm: 'sliding-window-counter' } as const
    const long = 'a-limit-with-a-name-that-nobody-would-type-on-a-telephone'
    await limits.setConfig({ level: 'system', resource: 'chat' }, { limits: { requests, [long]: requests } })
    const own = { limits: { requests: { capacity: 2 } } }
    await limits.setConfig({ level: 'resource', resource: 'chat' }, own)
    await limits.setConfig({ level: 'entity', identifier: 'tenant:1', resource: 'chat' }, own)
    for (let i = 0; i < 3; i++) await limits.acquire({ entity: 'tenant:1', resource: 'chat' })
    const name = 'tenant'.repeat(12)
    for (const path of [...PAGES, `/limits/entities/${name}/chat`]) {
      await visit(path)
      if (path !== '/limits/new') await page.getByText(long).first().waitFor()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, path)
      await assertAccessible()
    }
  })
})
