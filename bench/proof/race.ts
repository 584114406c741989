/**
 * Several processes on one directory add, remove, import, replace and check the same customers. In the end the
 * counts must be exact, and meanwhile every check that carries a token must see the write that returned it.
 * Arguments: --seconds 120 --processes 4
 */
import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import {
  agreedMembers,
  demand,
  demandNoLitter,
  type Figures,
  inTemporaryDirectory,
  lines,
  sameSet,
  Violation,
  whenStarted,
} from '../support/proof.js'
import {
  bulkCustomer,
  contestedCustomer,
  type FromProcess,
  ownCustomer,
  type Plan,
  setOf,
  type Tally,
  type ToProcess,
} from '../support/race-plan.js'

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const PROCESS = fileURLToPath(new URL('../support/race-process.js', import.meta.url))
const SIZES = { seconds: 120, processes: 4, contested: 24, bulkSize: 3000, setSize: 12_000, sets: 3 }

export function run(given: Partial<typeof SIZES>): Promise<Figures> {
  return inTemporaryDirectory(async (directory) => {
    const plan: Plan = { ...SIZES, ...given, directory }
    const catraca = await openCatraca({ store: `embedded:${directory}`, sweepIntervalMs: 0 })
    let total: number
    let tallies: Tally[]
    try {
      for (const id of ['exact', 'owned', 'bulk', 'switch']) {
        await catraca.allowlists.create({ id, name: id, type: 'FIXA' })
      }
      const first = lines(setOf(0, plan.setSize))
      await catraca.allowlists.import('switch', first, { format: 'text', mode: 'replace' })
      await seeAtOnce(catraca, plan)
      tallies = await race(plan)
      await catraca.upkeep()
      total = await verify(catraca, plan, tallies)
    } finally {
      await catraca.close()
    }
    await demandNoLitter(directory, total)
    return figures(plan, tallies)
  })
}

/**
 * Within one turn of the event loop, in which reads keep to one state of the store, another process writes. Whoever
 * has the token of that write must see it.
 */
async function seeAtOnce({ allowlists }: Catraca, { directory }: Plan): Promise<void> {
  const id = 'seen-at-once'
  for (const verb of ['add', 'remove']) {
    await allowlists.checkNow(id, ['owned'])
    const command = ['allowlist', verb, 'owned', id, '--store', `embedded:${directory}`, '--json']
    const { stdout, stderr, status } = spawnSync(process.execPath, [CLI, ...command], { encoding: 'utf8' })
    demand(status === 0, `${verb} ended with ${status}: ${stderr}`)
    const { token } = JSON.parse(stdout) as { token: string }
    const { overallAllowed } = await allowlists.checkNow(id, ['owned'], { atLeast: token })
    demand(overallAllowed === (verb === 'add'), `a check with the token of ${verb} answers from before it`)
  }
}

/** Starts the processes, carries their questions to each other, and collects what they did. */
async function race(plan: Plan): Promise<Tally[]> {
  const children = Array.from({ length: plan.processes }, (_, index) =>
    fork(PROCESS, [JSON.stringify({ ...plan, index })], { execArgv: [] }),
  )
  const ends = children.map((child) => once(child, 'exit'))
  try {
    const tallies = await Promise.all(children.map((child, index) => tallyOf(child, index, children)))
    for (const child of children) child.disconnect()
    for (const [code, signal] of await Promise.all(ends)) {
      demand(code === 0, `a process ended with ${code ?? signal}`)
    }
    return tallies
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(ends)
  }
}

function tallyOf(child: ChildProcess, index: number, children: ChildProcess[]): Promise<Tally> {
  return new Promise((resolve, reject) => {
    child.on('exit', (code, signal) => reject(new Error(`process ${index} ended early (${code ?? signal})`)))
    child.on('message', (message: FromProcess) => {
      if (message.type === 'done') resolve(message.tally)
      else if (message.type === 'failed') reject(new Violation(`process ${index}: ${message.message}`))
      else {
        const to = message.type === 'look' ? message.look.to : message.look.from
        children[to]!.send(message satisfies ToProcess)
      }
    })
  })
}

/** Returns how many members all lists hold together. */
async function verify(catraca: Catraca, plan: Plan, tallies: Tally[]): Promise<number> {
  const { contested, bulkSize, setSize, sets } = plan
  const indexes = (length: number) => Array.from({ length }, (_, i) => i)
  const exact = await agreedMembers(catraca, 'exact', indexes(contested).map(contestedCustomer))
  for (let i = 0; i < contested; i++) {
    const net = tallies.reduce((sum, tally) => sum + tally.net[i]!, 0)
    const present = Number(exact.has(contestedCustomer(i)))
    demand(net === present, `${contestedCustomer(i)}: added less removed is ${net}, present ${present}`)
  }
  const ownIds = tallies.flatMap(({ own }, process) =>
    own.map((isIn, i) => ({ id: ownCustomer(process, i), isIn })),
  )
  const owned = await agreedMembers(
    catraca,
    'owned',
    ownIds.map(({ id }) => id),
  )
  for (const { id, isIn } of ownIds)
    demand(owned.has(id) === isIn, `${id}: the last write of its owner is lost`)
  const bulk = await agreedMembers(catraca, 'bulk', indexes(bulkSize).map(bulkCustomer))
  verifyShared(tallies)
  const everySet = indexes(sets).map((set) => new Set(setOf(set, setSize)))
  const universe = [...new Set(everySet.flatMap((set) => [...set]))]
  const switched = await agreedMembers(catraca, 'switch', universe)
  demand(
    everySet.some((set) => sameSet(set, switched)),
    'the replaced list is none of the sets',
  )
  return exact.size + owned.size + bulk.size + switched.size
}

/** Whoever did an import, and whoever was told that it was done, must have been told the same. */
function verifyShared(tallies: Tally[]): void {
  const told = new Map<string, string>()
  for (const { shared } of tallies) {
    for (const [importId, counts] of Object.entries(shared)) {
      const text = JSON.stringify(counts)
      const other = told.get(importId) ?? text
      demand(other === text, `${importId} was counted as ${other} and as ${text}`)
      told.set(importId, text)
    }
  }
}

function figures({ seconds }: Plan, tallies: Tally[]): Figures {
  const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0)
  const kinds = [...new Set(tallies.flatMap(({ done }) => Object.keys(done)))]
  return {
    ...Object.fromEntries(kinds.map((kind) => [`${kind}/s`, sum(({ done }) => done[kind] ?? 0) / seconds])),
    'writes seen elsewhere by token': sum(({ looks }) => looks),
    'imports told to several': sum(({ shared }) => Object.keys(shared).length),
  }
}

await whenStarted(import.meta.url, 'race', SIZES, run)
