import { once } from 'node:events'
import { dying, runTask, type Task } from './dynamodb-bulk.js'

const [task] = (await once(process, 'message')) as [Task]
await runTask(
  task,
  dying(task.death, () => process.kill(process.pid, 'SIGKILL')),
)
process.exit(3)
