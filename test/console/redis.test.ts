import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test'
import { openConsole } from '../support/console.js'
import { openPatiently } from '../support/patient.js'
import { type RedisServers, startSingle } from '../support/redis/index.js'

describe('the console over Redis', () => {
  let redis: RedisServers
  before(async () => {
    redis = await startSingle()
  })
  beforeEach(() => redis.flush())
  after(() => redis.stop())

  const open = (t: TestContext) =>
    openConsole(t, {
      open: { store: redis.storeUrl, sweepIntervalMs: 0 },
      browser: { reducedMotion: 'no-preference' },
    })
  /** Another process would see and change the same: what it does is not known to the server in advance. */
  const another = async (t: TestContext) => {
    const catraca = await openPatiently({ store: redis.storeUrl, sweepIntervalMs: 0 })
    t.after(() => catraca.close())
    return catraca
  }

  it('shows the engine as healthy', async (t) => {
    const { page, visit, assertAccessible } = await open(t)
    await visit('')
    await page.getByText('Healthy').first().waitFor()
    await page.getByRole('heading', { name: 'Engines' }).click()
    await page.getByRole('row', { name: /redis/ }).first().waitFor()
    for (const name of await page.locator('.engine-facts .detail').allTextContents())
      assert.match(name, /^[A-Z]/, 'facts have names in words')
    await assertAccessible()
  })

  it('checks a customer and tells why', async (t) => {
    const { page, server, visit } = await open(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await server.catraca.allowlists.add('vip', 'ana')
    await visit('/check?customer=ana&lists=vip')
    await page.getByRole('status').filter({ hasText: 'may pass' }).waitFor()
    await page.getByText('by VIP: on the list').waitFor()
    await visit('/check?customer=bia&lists=vip')
    await page.getByText('by VIP: not on the list').waitFor()
  })

  it('edits a limit, which other processes then follow, and shows live what they take', async (t) => {
    const { page, server, visit, assertAccessible } = await open(t)
    await server.catraca.limits.setConfig(
      { level: 'system', resource: 'chat' },
      { limits: { requests: { capacity: 5, refillPeriodSeconds: 3600, algorithm: 'fixed-window' } } },
    )
    await visit('/limits/resources/chat/edit/system')
    await page.getByLabel('Capacity').fill('8')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    await page.getByRole('dialog').getByText('8 in each fixed window of 1 h').waitFor()
    await page.getByRole('button', { name: 'Save the change' }).click()
    await page.getByRole('region', { name: 'What applies' }).getByText('8 in each fixed').waitFor()
    await visit('/limits/entities/tenant%3A1/chat')
    await page.getByText('8 of 8').waitFor()
    const { limits } = await another(t)
    for (let i = 0; i < 7; i++) await limits.acquire({ entity: 'tenant:1', resource: 'chat' })
    await page.getByText('1 of 8').waitFor()
    await page.getByLabel('Cost of requests').fill('2')
    await page.getByRole('button', { name: 'Acquire', exact: true }).click()
    await page.locator('.violations', { hasText: 'requests' }).waitFor()
    await assertAccessible()
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
    await page.getByText('8 of 8').waitFor()
    assert.equal((await limits.status('tenant:1', 'chat')).limits.requests?.remaining, 8)
  })

  it('sees a lock of another process, and takes it away', async (t) => {
    const { page, visit } = await open(t)
    const { locks } = await another(t)
    assert.ok(await locks.acquire('claim:abc', { ttlMs: 60_000 }))
    await visit('/locks')
    await page.getByLabel('Lock name').fill('claim:abc')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Held', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Release lock' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Type claim:abc to confirm').fill('claim:abc')
    await dialog.getByRole('button', { name: 'Release lock' }).click()
    await page.getByText('Free', { exact: true }).waitFor()
    assert.ok(await locks.acquire('claim:abc', { ttlMs: 1000 }), 'free for others too')
  })
})
