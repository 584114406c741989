/**
 * Adds one after the other with `durability: disk`, beside what the disk itself does: one page written to a file and
 * flushed, one after the other, in the same directory, in turns. An add cannot be faster than a flush.
 * Arguments: --seconds 1 --rounds 7
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatraca } from '../src/app/open-catraca.js'
import { numberArguments } from './support/arguments.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ seconds: 1, rounds: 7 })
const PAGE_BYTES = 4096
const FILE_PAGES = 4096

const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
const file = openSync(join(directory, 'pages'), 'w')
const page = Buffer.alloc(PAGE_BYTES, 1)
// Like a store, the file does not grow all the time.
for (let i = 0; i < FILE_PAGES; i++) writeSync(file, page, 0, PAGE_BYTES, i * PAGE_BYTES)
fdatasyncSync(file)
const catraca = await openCatraca({
  store: `embedded:${join(directory, 'store')}`,
  embedded: { durability: 'disk' },
  sweepIntervalMs: 0,
})
const { allowlists } = catraca
await allowlists.create({ id: 'list', name: 'List', type: 'FIXA' })

let next = 0
const sides = {
  flush: async () => {
    writeSync(file, page, 0, PAGE_BYTES, ((next++ * 37) % FILE_PAGES) * PAGE_BYTES)
    fdatasyncSync(file)
  },
  add: async () => void (await allowlists.add('list', `customer-${next++}`)),
}

async function rate(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  let done = 0
  while (performance.now() - begun < values.seconds * 1000) {
    await work()
    done++
  }
  return (1000 * done) / (performance.now() - begun)
}

const rates = { flush: [] as number[], add: [] as number[] }
try {
  for (const work of Object.values(sides)) await rate(work)
  for (let round = 0; round < values.rounds; round++) {
    rates.flush.push(await rate(sides.flush))
    rates.add.push(await rate(sides.add))
  }
} finally {
  await catraca.close()
  closeSync(file)
  rmSync(directory, { recursive: true, force: true })
}
report({
  name: 'durable-adds',
  rounds: values.rounds,
  setting: values,
  figures: {
    'page written and flushed/s': median(rates.flush),
    'add, durability disk/s': median(rates.add),
  },
  ratios: { 'add ÷ flush': median(rates.add.map((add, i) => add / rates.flush[i]!)) },
})
