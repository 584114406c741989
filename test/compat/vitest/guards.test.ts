import { isCatracaError, openCatraca } from 'catraca'
import { createClient } from 'catraca/client'
import { startServer } from 'catraca/server'
import { expect, test } from 'vitest'

test('a server and its client', async () => {
  const catraca = await openCatraca({ store: 'memory:' })
  const server = await startServer(catraca, { port: 0, metrics: false })
  const client = createClient({ url: server.url })
  await client.createAllowlist({ body: { id: 'vip', name: 'VIP', type: 'FIXA' } })
  await catraca.allowlists.add('vip', 'ann')
  const answer = await client.checkCustomer({ customerId: 'ann', allowlists: ['vip'] })
  expect(answer.overallAllowed).toBe(true)
  const error = await catraca.allowlists.get('none').catch((each: unknown) => each)
  expect(isCatracaError(error, 'ALLOWLIST_NOT_FOUND')).toBe(true)
  await server.stop()
  await catraca.close()
})
