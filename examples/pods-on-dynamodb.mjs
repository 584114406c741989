// Two pods and a relay over one table: what one pod writes, the other answers from memory a moment later, or at once
// with the token. Run it with a store that may be written to, and credentials as the AWS SDK finds them:
// node examples/pods-on-dynamodb.mjs 'dynamodb://us-east-1/Allowlists?endpoint=http://127.0.0.1:8000'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCatraca, openDynamodbTables, startRelay } from 'catraca'

const store = process.argv[2] ?? 'dynamodb://us-east-1/Allowlists?endpoint=http://127.0.0.1:8000'

// What `catraca dynamodb create` does; it leaves alone what is there already.
const tables = await openDynamodbTables(store)
const made = await tables.create()
console.log(`tables: ${made.map(({ role }) => role).join(', ')}`)
tables.close()

// What `catraca relay` does, and the Lambda of deploy/: it makes logs of what the table streams tell.
const relay = await startRelay({ store })
const [one, two] = await Promise.all([openCatraca({ store }), openCatraca({ store })])

await one.allowlists.create({ id: 'pods-example', name: 'Example', type: 'FIXA' })
try {
  async function* file() {
    for (let i = 0; i < 200; i++) yield Buffer.from(`customer-${i}\n`)
  }
  const imported = await one.allowlists.import('pods-example', file(), { format: 'text' })
  console.log(`imported: ${imported.added} customers`)

  await one.allowlists.rebuild('pods-example')
  // Memory answers once a probe has come through the stream and shown that nothing is missing; until then the table does.
  while (two.stats().checks.filtered === 0) {
    await two.allowlists.check('anybody', ['pods-example'])
    await sleep(10)
  }

  const { token } = await one.allowlists.add('pods-example', 'alice')
  const fresh = await two.allowlists.check('alice', ['pods-example'], { atLeast: token })
  console.log(`with the token: ${fresh.results[0].reason}`)

  await one.allowlists.remove('pods-example', 'alice')
  while ((await two.allowlists.check('alice', ['pods-example'])).overallAllowed) await sleep(10)
  console.log('without: the other pod follows by itself')

  const { filtered } = two.stats().checks
  for (let i = 0; i < 100; i++) await two.allowlists.check(`stranger-${i}`, ['pods-example'])
  console.log(`strangers answered without asking DynamoDB: ${two.stats().checks.filtered - filtered}`)
} finally {
  await one.allowlists.delete('pods-example')
  await one.upkeep()
  await Promise.all([one.close(), two.close()])
  await relay.stop()
}
