import { NOW } from '../../src/conformance/support.js'
import { openRedis } from '../../src/engines/redis/link/open-redis.js'
import { openStores } from '../../src/engines/redis/stores.js'
import { PATIENT_REDIS } from './patient.js'
import { watched } from './redis-bulk.js'

/** Adds one customer to a list, and dies when it is stored and the reverse index does not know it yet. */
const [url, listId, customerId] = JSON.parse(process.argv[2]!)
const redis = watched(await openRedis(url, PATIENT_REDIS), (script, run) => {
  if (script === 'reverse-update') process.kill(process.pid, 'SIGKILL')
  return run()
})
const stores = openStores(redis, {
  database: 0,
  commandTimeoutMs: 3000,
  maxLogBytes: 1024 * 1024,
  staleAfterMs: 3000,
  shardAbove: 5_000_000,
  initialShards: 1,
})
await stores.members.add(listId, customerId, {}, NOW)
