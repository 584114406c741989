/**
 * One of several processes at work on the same lists of one directory. It is started by the race proof, checks what
 * can be checked on the spot, and tells the proof what it did.
 */
import { openCatraca } from '../../src/app/open-catraca.js'
import { isCatracaError } from '../../src/core/errors.js'
import { demand, dieOfFailures, lines, pagedMembers, pick } from './proof.js'
import {
  bulkCustomer,
  CONTESTED_LANES,
  contestedCustomer,
  type FromProcess,
  type Look,
  ownCustomer,
  type Plan,
  type SharedImports,
  setOf,
  setsSample,
  type ToProcess,
} from './race-plan.js'

dieOfFailures()
const plan = JSON.parse(process.argv[2]!) as Plan & { index: number }
const { index, processes, contested, bulkSize, setSize, sets } = plan
const OWN = 5
const SHARED_IMPORT_MS = 400

const catraca = await openCatraca({
  store: `embedded:${plan.directory}`,
  sweepIntervalMs: 20,
  embedded: { writeTimeoutMs: 60_000 },
})
const { allowlists } = catraca
const say = (message: FromProcess): void => void process.send!(message)

const done: Record<string, number> = {}
const net: number[] = Array.from({ length: contested }, () => 0)
const own: boolean[] = Array.from({ length: OWN }, () => false)
const shared: SharedImports = {}

/** The same customers for everybody: what was added, less what was removed, is what must be there in the end. */
async function addAndRemove(): Promise<void> {
  const i = Math.floor(Math.random() * contested)
  if (Math.random() < 0.5) {
    const { added, customerCount } = await allowlists.add('exact', contestedCustomer(i))
    if (added) net[i]!++
    demand(customerCount >= 1 && customerCount <= contested, `an add counted ${customerCount}`)
  } else {
    const { removed, customerCount } = await allowlists.remove('exact', contestedCustomer(i))
    if (removed) net[i]!--
    demand(customerCount >= 0 && customerCount < contested, `a removal counted ${customerCount}`)
  }
}

const lookingFor = new Map<number, () => void>()
let looks = 0

/** Customers that only this process changes: every write must be seen here, and elsewhere with its token. */
async function changeOwn(): Promise<void> {
  const i = Math.floor(Math.random() * OWN)
  const present = !own[i]
  const customerId = ownCustomer(index, i)
  const { token } = present
    ? await allowlists.add('owned', customerId)
    : await allowlists.remove('owned', customerId)
  own[i] = present
  for (const options of [undefined, { atLeast: token }]) {
    const { overallAllowed } = await allowlists.check(customerId, ['owned'], options)
    demand(
      overallAllowed === present,
      `process ${index} does not see its own write (${JSON.stringify(options)})`,
    )
  }
  const id = looks++
  await new Promise<void>((resolve) => {
    lookingFor.set(id, resolve)
    say({ type: 'look', look: { id, from: index, to: (index + 1) % processes, customerId, present, token } })
  })
}

async function lookFor(look: Look): Promise<void> {
  const { overallAllowed } = await allowlists.check(look.customerId, ['owned'], { atLeast: look.token })
  demand(
    overallAllowed === look.present,
    `process ${index} misses a write of ${look.from} that it has the token of`,
  )
  say({ type: 'seen', look })
}

process.on('message', (message: ToProcess) => {
  if (message.type === 'look') void lookFor(message.look)
  else lookingFor.get(message.look.id)?.()
})

/** Imports of one name, begun by all processes at about the same time: one does it, all are told the same. */
async function importTogether(): Promise<void> {
  const round = Math.floor(Date.now() / SHARED_IMPORT_MS)
  const importId = `shared-${round}`
  const ids = bulkIds((i) => (Math.imul(i + 1, round) >>> 7) % 3 !== 0)
  const { added, unchanged } = await allowlists.import('bulk', lines(ids), { format: 'text', importId })
  shared[importId] = { added, unchanged }
  demand(added + unchanged === ids.length, `${importId}: ${added} + ${unchanged} of ${ids.length}`)
}

function bulkIds(taken: (i: number) => boolean): string[] {
  return Array.from({ length: bulkSize }, (_, i) => i)
    .filter(taken)
    .map(bulkCustomer)
}

async function bulkWork(): Promise<void> {
  const customerId = bulkCustomer(Math.floor(Math.random() * bulkSize))
  switch (pick(['import', 'replace', 'add', 'add', 'remove', 'remove'])) {
    case 'import':
      return importTogether()
    case 'replace': {
      const ids = lines(bulkIds(() => Math.random() < 0.5))
      await allowlists.import('bulk', ids, { format: 'text', mode: 'replace' })
      return
    }
    case 'add':
      await allowlists.add('bulk', customerId, Math.random() < 0.3 ? { addedBy: `process ${index}` } : {})
      return
    default:
      await allowlists.remove('bulk', customerId)
  }
}

async function replaceSet(): Promise<void> {
  const ids = setOf(pick(Array.from({ length: sets }, (_, set) => set)), setSize)
  await allowlists.import('switch', lines(ids), { format: 'text', mode: 'replace' })
}

const sample = setsSample(sets, setSize)

/** Whatever is being replaced meanwhile, exactly one set is there, and whole. */
async function watchSets(): Promise<void> {
  const { results } = await allowlists.checkMany({
    customerIds: sample.map(({ id }) => id),
    allowlists: ['switch'],
  })
  const seen = sample.filter((_, i) => results[i]!.overallAllowed)
  const common = sample.filter(({ set }) => set === 'common')
  demand(
    seen.filter(({ set }) => set === 'common').length === common.length,
    'a customer of both the old and the new list was denied',
  )
  const kinds = new Set(seen.map(({ set }) => set))
  const size = (sample.length - common.length) / sets
  demand(kinds.size === 2 && seen.length === common.length + size, `checks saw a mixture of ${[...kinds]}`)
  const paged = await pagedMembers(allowlists, 'owned')
  demand(paged.length <= processes * OWN, 'a page repeats customers')
}

/** Somebody else was quicker: part of the game. */
const refused = (error: unknown): boolean =>
  isCatracaError(error, 'IMPORT_IN_PROGRESS') || isCatracaError(error, 'REPLACE_IN_PROGRESS')

const endAt = Date.now() + 1000 * plan.seconds
const isOver = () => Date.now() >= endAt
const rest = (maxMs: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * maxMs))

/** An import costs a thread, and heavy lanes would leave little time for the others: those rest in between. */
async function lane(work: () => Promise<void>, isEnd: () => boolean, maxRestMs = 0): Promise<void> {
  while (!isEnd()) {
    try {
      await work()
      done[work.name] = (done[work.name] ?? 0) + 1
    } catch (error) {
      if (!refused(error)) throw error
    }
    if (maxRestMs > 0) await rest(maxRestMs)
  }
}

let heavyOnes = 2
const heavy = async (work: () => Promise<void>, maxRestMs: number) => {
  await lane(work, isOver, maxRestMs)
  heavyOnes--
}
// What a replace that takes long does must be watched until its end.
const isOverForAll = () => isOver() && heavyOnes === 0
const contestedLanes = Array.from({ length: CONTESTED_LANES }, () => lane(addAndRemove, isOver))
await Promise.all([
  ...contestedLanes,
  lane(changeOwn, isOver),
  heavy(bulkWork, 100),
  heavy(replaceSet, 200),
  lane(watchSets, isOverForAll, 40),
])
say({ type: 'done', tally: { done, looks, net, own, shared } })
// Others may still have questions: the proof says when all are done.
await new Promise((resolve) => process.once('disconnect', resolve))
await catraca.close()
