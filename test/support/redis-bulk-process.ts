import { openRedis } from '../../src/engines/redis/link/open-redis.js'
import { openStores } from '../../src/engines/redis/stores.js'
import { PATIENT_REDIS } from './patient.js'
import { customers, importIds, STORE_OPTIONS, type Task, watched } from './redis-bulk.js'

const { url, job, listId, importId, mode, ids, shards, death } = JSON.parse(process.argv[2]!) as Task
let calls = 0
const redis = watched(await openRedis(url, PATIENT_REDIS), async (script, run) => {
  const isHere = script === death.script && ++calls === death.nth
  if (isHere && death.when === 'before') process.kill(process.pid, 'SIGKILL')
  const reply = await run()
  if (isHere) process.kill(process.pid, 'SIGKILL')
  return reply
})
const stores = openStores(redis, STORE_OPTIONS)
await stores.tokens.open()
if (job === 'import') {
  await importIds(stores, listId, customers(ids!.from, ids!.to), { mode: mode!, importId: importId! })
} else {
  await stores.resharding.reshard(listId, shards!, { leaseMs: 300 })
}
process.exit(3)
