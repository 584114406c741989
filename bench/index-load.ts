/**
 * How long a new process needs until lists are in memory: one list, and ten, from the embedded store.
 * Arguments: members of each list (5,000,000), lists (10), rounds (5).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatraca } from '../src/app/open-catraca.js'
import { randomUuids, uuidLines } from './support/customers.js'
import { median, report } from './support/report.js'

const [members = 5_000_000, lists = 10, rounds = 5] = process.argv.slice(2).map(Number)
const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
const store = `embedded:${directory}`

try {
  await prepare()
  const openOnly: number[] = []
  const one: number[] = []
  const all: number[] = []
  for (let round = 0; round < rounds; round++) {
    openOnly.push(await timeToReady(0))
    one.push(await timeToReady(1))
    all.push(await timeToReady(lists))
  }
  report({
    name: 'index-load',
    rounds,
    setting: { members, lists },
    figures: {
      openMs: median(openOnly),
      oneListMs: median(one) - median(openOnly),
      allListsMs: median(all) - median(openOnly),
    },
    ratios: {},
  })
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function prepare(): Promise<void> {
  const catraca = await openCatraca({ store, membership: { build: 'off' } })
  const ascii = randomUuids(members)
  for (let i = 0; i < lists; i++) {
    const id = `list-${i}`
    await catraca.allowlists.create({ id, name: id, type: 'FIXA' })
    await catraca.allowlists.import(id, body(ascii), { format: 'text' })
    await catraca.allowlists.rebuild(id)
    await catraca.allowlists.check('nobody', [id])
    console.log(`${id} is ready`)
  }
  await catraca.close()
}

async function* body(ascii: Buffer): AsyncGenerator<Uint8Array> {
  yield* uuidLines(ascii)
}

async function timeToReady(warmUpLists: number): Promise<number> {
  const begin = performance.now()
  const catraca = await openCatraca({ store, membership: { build: 'off', warmUpLists } })
  await catraca.ready
  const took = performance.now() - begin
  if (catraca.stats().bloomFiltersCount !== warmUpLists) throw new Error('not all lists were loaded')
  await catraca.close()
  return took
}
