/**
 * Several pods follow one table through topic, queues and logs, or (`--topic 0`, the default profile as it is) through
 * logs and what one of them reads for all, while others write. One pod starts in the middle, one is killed, of one messages are stolen, and a relay is killed: all that live end with exactly the members of the
 * table, saw every change, and never missed a write whose token they had. Members that the table itself deletes are
 * among the changes when there is time for it: the emulator looks for them once a minute.
 * Arguments: --pods 4 --seconds 80 --changesPerSecond 60 --members 2000 --expiring 300
 */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  DeleteMessageBatchCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { customer } from '../../src/conformance/support.js'
import type { DynamodbEngine } from '../../src/engines/dynamodb/index.js'
import type { FromPod, ToPod } from '../support/dynamodb-pod.js'
import { type DynamodbScene, openScene } from '../support/dynamodb-scene.js'
import { demand, type Figures, heard, sameSet, whenStarted } from '../support/proof.js'
import { delayFigures, writeAtPace } from '../support/timed-changes.js'

const SIZES = { pods: 4, seconds: 80, changesPerSecond: 60, members: 2000, expiring: 300, topic: 1 }
type Told = Extract<FromPod, { type: 'told' }>

const SALT = '00112233445566778899aabbccddeeff'
const TICK_MS = 20
const ASKED_EVERY = 5
/** How long pods may take to end exact after the last write. */
const SETTLE_MS = 30_000
/** The emulator deletes what has expired within a minute. */
const EXPIRY_MS = 90_000

export async function run(given: Partial<typeof SIZES>): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  const scene = await openScene('extenddb')
  try {
    await scene.engine.allowlists.lists.create(
      { id: 'a', name: 'a', type: 'FIXA', precision: 'exact', salt: SALT },
      Date.now(),
    )
    const relay = await scene.startRelay()
    await scene.startRelay()
    await fill(scene.engine, sizes)
    const pods: ChildProcess[] = []
    const hasTopic = sizes.topic > 0
    for (let i = 0; i < sizes.pods - 1; i++) pods.push(await scene.startPod(hasTopic))
    const theft = hasTopic ? stealMessages(scene) : undefined
    const writing = write(
      scene.engine,
      () => pods,
      () => theft === undefined || theft.stolen > 0,
      sizes,
    )
    await sleep((1000 * sizes.seconds) / 4)
    relay.kill('SIGKILL')
    await sleep((1000 * sizes.seconds) / 4)
    const whole = [...pods]
    pods.push(await scene.startPod(hasTopic))
    const [killed] = whole.splice(1, 1)
    pods.splice(pods.indexOf(killed!), 1)
    killed!.kill('SIGKILL')
    const ackedAtMs = await writing
    await theft?.end()
    return await judge(scene.engine, pods, whole, { ackedAtMs, stolen: theft?.stolen ?? 0 }, sizes)
  } finally {
    await scene.close()
  }
}

/** `old-…` stay; `brief-…` are deleted by the table. */
async function fill({ allowlists: { members } }: DynamodbEngine, sizes: typeof SIZES): Promise<void> {
  const add = (id: string, expiresAt?: number) =>
    members.add('a', id, expiresAt === undefined ? {} : { expiresAt }, Date.now())
  const ids = Array.from({ length: sizes.members }, (_, i) => customer(i))
  for (let at = 0; at < ids.length; at += 16) await Promise.all(ids.slice(at, at + 16).map((id) => add(id)))
  const until = Date.now() + 500 * sizes.seconds
  for (let i = 0; i < sizes.expiring; i++) await add(`brief-${i}`, until)
}

/** Takes messages out of the queue of the first pod, as if they were lost. */
function stealMessages({ queueOptions }: DynamodbScene): { readonly stolen: number; end(): Promise<void> } {
  const sqs = new SQSClient(queueOptions)
  let isOver = false
  let stolen = 0
  const stealing = (async () => {
    const [QueueUrl] = (await sqs.send(new ListQueuesCommand({}))).QueueUrls ?? []
    while (!isOver) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
      )
      if (Messages.length === 0) continue
      stolen += Messages.length
      const Entries = Messages.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }))
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
    }
  })()
  return {
    get stolen() {
      return stolen
    },
    async end() {
      isOver = true
      await stealing
      sqs.destroy()
    },
  }
}

/** The pod and the thief read one queue, so writes go on until the thief was first once. */
function write(
  { allowlists: { members } }: DynamodbEngine,
  pods: () => ChildProcess[],
  wasStolen: () => boolean,
  sizes: typeof SIZES,
): Promise<Map<string, number>> {
  const tokenOf = (done: object): { token: string } => {
    demand('token' in done, 'the list is there')
    return done as { token: string }
  }
  const wholeMs = 1000 * sizes.seconds
  return writeAtPace({
    ...sizes,
    tickMs: TICK_MS,
    askedEvery: ASKED_EVERY,
    add: async (id) => tokenOf(await members.add('a', id, {}, Date.now())),
    remove: async (id) => tokenOf(await members.remove('a', id, Date.now())),
    pods,
    isGoingOn: (ms) => ms < wholeMs || (!wasStolen() && ms < wholeMs + SETTLE_MS),
  })
}

async function stored({ allowlists: { members } }: DynamodbEngine): Promise<Set<string>> {
  const ids = new Set<string>()
  let after: string | undefined
  do {
    const page = await members.page('a', after, 1000)
    for (const { customerId } of page?.members ?? []) ids.add(customerId)
    after = page?.next
  } while (after !== undefined)
  return ids
}

async function ask(pod: ChildProcess): Promise<Told> {
  const told = heard<FromPod, 'told'>(pod, 'told')
  pod.send({ type: 'tell' } satisfies ToPod)
  return told
}

async function judge(
  engine: DynamodbEngine,
  pods: ChildProcess[],
  whole: ChildProcess[],
  { ackedAtMs, stolen }: { ackedAtMs: Map<string, number>; stolen: number },
  { expiring }: typeof SIZES,
): Promise<Figures> {
  const expected = await settled(engine, expiring)
  const told = await Promise.all(pods.map((pod) => exact(pod, expected)))
  const delays: number[] = []
  let overtaken = 0
  for (const [i, pod] of pods.entries()) {
    const { arrivedAtMs, missed, loads } = told[i]!
    demand(missed === 0, `pod ${i} missed ${missed} writes whose token it had`)
    if (!whole.includes(pod)) continue
    demand(loads === 1, `pod ${i} lost the log ${loads - 1} times`)
    const arrivals = new Map(arrivedAtMs)
    for (const [change, ackedAt] of ackedAtMs) {
      const at = arrivals.get(change)
      // While no relay was at it the customer may have come and gone: then only the going is told.
      const isOvertaken = at === undefined && change.startsWith('+') && arrivals.has(`-${change.slice(1)}`)
      demand(at !== undefined || isOvertaken, `pod ${i} never saw ${change}`)
      if (at === undefined) overtaken++
      else delays.push(Math.max(0, at - ackedAt))
    }
    for (let n = 0; n < expiring; n++) demand(arrivals.has(`-brief-${n}`), `pod ${i} missed an expiry`)
  }
  const sum = (of: (one: Told) => number) => told.reduce((total, one) => total + of(one), 0)
  demand(sum((one) => one.tokenChecks) > 0, 'checks with tokens were made')
  return {
    changes: ackedAtMs.size,
    expiriesByTheTable: expiring,
    changesOvertaken: overtaken,
    messagesStolen: stolen,
    tokenChecks: sum((one) => one.tokenChecks),
    tokensProvenInMemory: sum((one) => one.fromMemory),
    ...delayFigures(delays),
  }
}

/** The members at rest, and the count, which is theirs. */
async function settled(engine: DynamodbEngine, expiring: number): Promise<Set<string>> {
  const { lists } = engine.allowlists
  for (const endsAt = Date.now() + (expiring > 0 ? EXPIRY_MS : SETTLE_MS); ; ) {
    const ids = await stored(engine)
    const { customerCount } = (await lists.get('a'))!
    const areGone = ![...ids].some((id) => id.startsWith('brief-'))
    if (areGone && customerCount === ids.size) return ids
    demand(Date.now() < endsAt, `the table holds ${ids.size} members and counts ${customerCount}`)
    await sleep(200)
  }
}

async function exact(pod: ChildProcess, expected: Set<string>): Promise<Told> {
  for (const endsAt = Date.now() + SETTLE_MS; ; ) {
    const told = await ask(pod)
    if (sameSet(new Set(told.members), expected)) return told
    demand(Date.now() < endsAt, `a pod holds ${told.members.length} of ${expected.size} members`)
    await sleep(200)
  }
}

await whenStarted(
  import.meta.url,
  ({ topic }) => `dynamodb-pods-${topic > 0 ? 'topic' : 'board'}`,
  SIZES,
  run,
)
