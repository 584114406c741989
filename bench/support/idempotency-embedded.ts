import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Catraca, type OpenOptions, openCatraca } from '../../src/app/open-catraca.js'

export interface IdempotencySizes {
  seconds: number
  rounds: number
  inFlight: number
}

export interface Part {
  figures: Record<string, number>
  ratios: Record<string, number>
}

const REPLAYED = 1000
const ANSWER = { processedMessages: 100, elapsed: 'PT2.5S' }
let made = 0

/** Requests per second through `run`, so many at a time, and what of the processor each took. */
async function measure(
  { seconds, inFlight }: IdempotencySizes,
  call: (i: number) => Promise<unknown>,
): Promise<{ perSecond: number; cpuUs: number }> {
  for (let i = 0; i < 200; i++) await call(i)
  let done = 0
  const start = performance.now()
  const cpu = process.cpuUsage()
  const end = start + seconds * 1000
  const loop = async (first: number) => {
    for (let i = first; performance.now() < end; i += inFlight) {
      await call(i)
      done++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, i) => loop(i)))
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: done / ((performance.now() - start) / 1000), cpuUs: (user + system) / done }
}

const ask = ({ idempotency }: Catraca, key: string) =>
  idempotency.run({ operation: 'PRODUCE', key, payload: { queue: 'DEV.QUEUE.1', key } }, () => ANSWER)

async function withCatraca<T>(options: OpenOptions, work: (catraca: Catraca) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
  const catraca = await openCatraca({ store: `embedded:${directory}`, sweepIntervalMs: 0, ...options })
  try {
    return await work(catraca)
  } finally {
    await catraca.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Fresh requests and replays in a directory, with every commit on disk (the default) and without. */
export async function measureIdempotencyEmbedded(sizes: IdempotencySizes): Promise<Part> {
  const figures: Record<string, number> = {}
  for (const durability of ['disk', 'process'] as const) {
    await withCatraca({ embedded: { durability } }, async (catraca) => {
      const fresh = await measure(sizes, () => ask(catraca, `key-${made++}`))
      figures[`embedded, ${durability}: run, fresh/s`] = fresh.perSecond
      figures[`embedded, ${durability}: run, fresh, µs of CPU`] = fresh.cpuUs
      if (durability === 'process') return
      for (let i = 0; i < REPLAYED; i += 100)
        await Promise.all(Array.from({ length: 100 }, (_, j) => ask(catraca, `replayed-${i + j}`)))
      const replay = await measure(sizes, (i) => ask(catraca, `replayed-${i % REPLAYED}`))
      figures['embedded: run, replay/s'] = replay.perSecond
      figures['embedded: run, replay, µs of CPU'] = replay.cpuUs
    })
  }
  return { figures, ratios: {} }
}
