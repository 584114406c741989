// Two pods over one Redis: what one writes, the other answers from memory a moment later, or at once with the token.
// Run it with the URL of a Redis that may be written to: node examples/pods-on-redis.mjs redis://127.0.0.1:6379/0
import { setTimeout as sleep } from 'node:timers/promises'
import { openCatraca } from 'catraca'

const store = process.argv[2] ?? 'redis://127.0.0.1:6379/0'
const [one, two] = await Promise.all([openCatraca({ store }), openCatraca({ store })])

await one.allowlists.create({ id: 'pods-example', name: 'Example', type: 'FIXA' })
try {
  async function* file() {
    for (let i = 0; i < 1000; i++) yield Buffer.from(`customer-${i}\n`)
  }
  const imported = await one.allowlists.import('pods-example', file(), { format: 'text' })
  console.log(`imported: ${imported.added} customers`)

  // The index of the list is built once, by whichever pod; every pod loads it and follows what changes.
  await one.allowlists.rebuild('pods-example')
  await two.allowlists.check('anybody', ['pods-example'])
  while ((await two.allowlists.index('pods-example')).state !== 'loaded') await sleep(10)

  const { token } = await one.allowlists.add('pods-example', 'alice')
  const fresh = await two.allowlists.check('alice', ['pods-example'], { atLeast: token })
  console.log(`with the token: ${fresh.results[0].reason}`)

  await one.allowlists.remove('pods-example', 'alice')
  while ((await two.allowlists.check('alice', ['pods-example'])).overallAllowed) await sleep(1)
  console.log('without: the other pod follows by itself')

  const { filtered } = two.stats().checks
  for (let i = 0; i < 100; i++) await two.allowlists.check(`stranger-${i}`, ['pods-example'])
  console.log(`strangers answered without asking Redis: ${two.stats().checks.filtered - filtered}`)
} finally {
  await one.allowlists.delete('pods-example')
  await one.upkeep()
  await Promise.all([one.close(), two.close()])
}
