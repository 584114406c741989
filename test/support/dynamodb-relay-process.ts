/** A relay in a process of its own, which tests kill: `node … STORE LEASE_MS [TOPIC_ARN]`. */
import { startRelay } from '../../src/app/relay.js'

const [store = '', leaseMs, topicArn] = process.argv.slice(2)
const relay = await startRelay({
  store,
  leaseMs: Number(leaseMs),
  pollMs: 20,
  ...(topicArn !== undefined && { topicArn }),
  onReport: (message, error) => process.stderr.write(`${message}: ${String(error)}\n`),
})
process.on('SIGTERM', () => void relay.stop().then(() => process.exit(0)))
process.stdout.write(`reads ${relay.shardCount} shards\n`)
