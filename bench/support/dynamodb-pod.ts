/**
 * A pod of the proof on DynamoDB: holds list `a` in memory, follows it through its own queue and the logs, and notes
 * when each change arrived. Arguments: the store URL, the topic (empty: none), the endpoint of queues.
 */

import { openDynamodb } from '../../src/engines/dynamodb/index.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import { isReset, readEntry } from '../../src/guards/allowlist/changes/entry.js'
import { type Followed, Follower } from '../../src/guards/allowlist/changes/follower.js'
import type { LogEntry, LogPosition } from '../../src/guards/allowlist/changes/port.js'
import { readCustomerKey } from '../../src/guards/allowlist/customer-key.js'
import { dieOfFailures } from './proof.js'
import type { Asked } from './timed-changes.js'

export type ToPod = { type: 'ask'; asked: Asked[] } | { type: 'tell' } | { type: 'stop' }

export type FromPod =
  | { type: 'ready' }
  | { type: 'stopped' }
  | {
      type: 'told'
      members: string[]
      /** Changes as `+id` or `-id`, each with the moment of its first arrival. */
      arrivedAtMs: [change: string, atMs: number][]
      tokenChecks: number
      fromMemory: number
      missed: number
      loads: number
      /** How old what it knows was at worst, as far as it was ever fresh. */
      ageMs: number
    }

dieOfFailures()
const [store = '', topicArn = '', queueEndpoint = ''] = process.argv.slice(2)
const engine = await openDynamodb(parseStoreUrl(store) as DynamodbUrl, {
  ...(topicArn !== '' && { topicArn, queues: { endpoint: queueEndpoint } }),
})
const { changes, checks, lists, members } = engine.allowlists
const { incarnation } = (await lists.get('a'))!
const list = { id: 'a', incarnation }
const arrivedAtMs = new Map<string, number>()

class Image implements Followed {
  readonly list = list
  readonly members = new Set<string>()
  position: LogPosition[] = []
  freshAtMs = Number.NEGATIVE_INFINITY
  behind = false
  isLost = false

  apply({ bytes }: LogEntry): void {
    if (isReset(bytes)) {
      this.lost()
      return
    }
    readEntry(bytes, {
      added: (key, start, end) => {
        const id = readCustomerKey(key, start, end)
        this.members.add(id)
        arrived(`+${id}`)
      },
      removed: (key, start, end) => {
        const id = readCustomerKey(key, start, end)
        this.members.delete(id)
        arrived(`-${id}`)
      },
    })
  }

  lost(): void {
    this.isLost = true
    void load()
  }
}

function arrived(change: string): void {
  if (!arrivedAtMs.has(change)) arrivedAtMs.set(change, performance.timeOrigin + performance.now())
}

const follower = new Follower(changes, 1000, (error) =>
  process.stderr.write(`following failed: ${String(error)}\n`),
)
let image = new Image()
let loads = 0
let tokenChecks = 0
let fromMemory = 0
let missed = 0
let asking: Promise<void> = Promise.resolve()

/** First the position, then the members: whatever changes meanwhile is behind the position. */
async function load(): Promise<void> {
  loads++
  const next = new Image()
  next.position = [...(await changes.position(list))!]
  let after: string | undefined
  do {
    const page = await members.page('a', after, 1000)
    for (const { customerId } of page?.members ?? []) next.members.add(customerId)
    after = page?.next
  } while (after !== undefined)
  follower.remove(image)
  image = next
  follower.add(image)
  await follower.catchUp(image)
}

async function ask(asked: Asked[]): Promise<void> {
  for (const { id, removed, token } of asked) {
    tokenChecks++
    const isProven = !image.isLost && checks.readToken(token).isIn(image.position)
    if (isProven) fromMemory++
    const isMember = isProven ? image.members.has(id) : await askStore(id, token)
    if (isMember === removed) missed++
  }
}

async function askStore(id: string, token: string): Promise<boolean> {
  const view = await checks.view({ atLeast: token })
  const checked = (await view.list('a'))!
  return (await view.member(checked, id)) !== undefined
}

function told(): FromPod {
  return {
    type: 'told',
    members: [...image.members],
    arrivedAtMs: [...arrivedAtMs],
    tokenChecks,
    fromMemory,
    missed,
    loads,
    ageMs: performance.now() - image.freshAtMs,
  }
}

async function stop(): Promise<void> {
  follower.close()
  await engine.close()
  process.send!({ type: 'stopped' } satisfies FromPod, () => process.disconnect())
}

process.on('message', (message: ToPod) => {
  if (message.type === 'ask') asking = asking.then(() => ask(message.asked))
  else if (message.type === 'tell') void asking.then(() => process.send!(told()))
  else void asking.then(stop)
})

await load()
process.send!({ type: 'ready' } satisfies FromPod)
