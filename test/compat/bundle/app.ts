// An application that is bundled into one file. `STORE` is its store.
import { isCatracaError, openCatraca } from 'catraca'

async function main(): Promise<void> {
  const catraca = await openCatraca({ store: process.env.STORE ?? 'memory:' })
  const limits = { rpm: { capacity: 1, refillPeriodSeconds: 60 } }
  const { allowed } = await catraca.limits.acquire({ entity: `e-${process.pid}`, resource: 'api', limits })
  const fence = await catraca.locks.withLock(
    `bundle-${process.pid}`,
    { ttlMs: 5000 },
    async (lock) => lock.fence,
  )
  const id = `list-${process.pid}`
  await catraca.allowlists.create({ id, name: 'List', type: 'FIXA' })
  await catraca.allowlists.add(id, 'ann')
  // Needs a thread.
  const lines = (async function* () {
    yield Buffer.from('bob\n')
  })()
  const imported = await catraca.allowlists.import(id, lines, { format: 'text' }).then(
    ({ customerCount }) => `imported ${customerCount}`,
    (error) =>
      isCatracaError(error, 'PACKAGE_MISSING') ? `refused: ${error.message}` : Promise.reject(error),
  )
  await catraca.close()
  console.log(`allowed ${allowed}, fence ${fence > 0}, ${imported}`)
}

main()
