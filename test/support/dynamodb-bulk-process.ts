import { once } from 'node:events'
import { importIds, openWithoutFeed, type Task } from './dynamodb-bulk.js'

const [{ url, listId, job, death }] = (await once(process, 'message')) as [Task]
let calls = 0
const engine = await openWithoutFeed(url, async (call, run) => {
  const isHere = call === death.call && ++calls === death.nth
  if (isHere && death.when === 'before') process.kill(process.pid, 'SIGKILL')
  const answer = await run()
  if (isHere) process.kill(process.pid, 'SIGKILL')
  return answer
})
if ('to' in job) await engine.work.mover.move(listId, job.to, { leaseMs: 300 })
else await importIds(engine, listId, job.ids, job)
process.exit(3)
