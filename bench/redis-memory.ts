/**
 * Memory in Redis, by `MEMORY USAGE` of all keys: of a membership, with and without attributes, and of one item of each
 * guard. Targets: at most 210 bytes for each membership without attributes, half of what version 0.1.0 took.
 * Arguments: --members 1000000 --items 5000
 */
import { openCatraca } from '../src/app/open-catraca.js'
import { startSingle } from '../test/support/redis/index.js'
import { numberArguments } from './support/arguments.js'
import { randomUuids, uuidAt, uuidLines } from './support/customers.js'
import { ITEMS, memoryOfKeys } from './support/redis-memory.js'
import { report } from './support/report.js'

const { values } = numberArguments({ members: 1_000_000, items: 5000 })
const IN_FLIGHT = 100
const YEAR_MS = 365 * 86_400_000

const redis = await startSingle()
const [server] = redis.servers
const catraca = await openCatraca({
  store: redis.storeUrl,
  sweepIntervalMs: 0,
  membership: { maxBytes: 0 },
  // Its own keys would be counted too.
  audit: { enabled: false },
  limits: { usage: false },
  codes: { pepper: 'of a benchmark' },
})

async function each(count: number, run: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, work))
}

/** Bytes of one item, beyond what was there before the first. */
async function bytesEach(count: number, store: () => Promise<unknown>): Promise<number> {
  const before = await memoryOfKeys(server!)
  await store()
  return Math.round((await memoryOfKeys(server!)) - before) / count
}

const figures: Record<string, number> = {}
const { allowlists } = catraca
async function members(name: string, count: number, input?: object): Promise<void> {
  const id = name.replaceAll(/\W+/g, '-')
  await allowlists.create({ id, name, type: 'FIXA' })
  const uuids = randomUuids(count)
  const bytes = await bytesEach(count, async () => {
    if (input === undefined) await allowlists.import(id, chunks(uuids), { format: 'text' })
    else await each(count, (i) => allowlists.add(id, uuidAt(uuids, i), input))
    // The log is bounded, and so not part of a membership.
    await server!.say('DEL', `{allowlist:${id}}:log`)
  })
  figures[`membership, ${name}: bytes`] = bytes
}

async function* chunks(uuids: Buffer): AsyncGenerator<Uint8Array> {
  yield* uuidLines(uuids)
}

try {
  await members('without attributes', values.members)
  await members('with expiresAt', values.items * 4, {
    expiresAt: new Date(Date.now() + YEAR_MS).toISOString(),
  })
  await members('with addedBy', values.items * 4, { addedBy: 'crm' })
  for (const [name, { prepare, store }] of Object.entries(ITEMS)) {
    await prepare?.(catraca)
    figures[`${name}: bytes`] = await bytesEach(values.items, () =>
      each(values.items, (i) => store(catraca, i)),
    )
  }
} finally {
  await catraca.close()
  await redis.stop()
}
report({ name: 'redis-memory', rounds: 1, setting: values, figures, ratios: {} })
