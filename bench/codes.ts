/**
 * One-time codes on the embedded engine and on one Redis on loopback: issued and verified per second, and whether the
 * time of an answer tells an address with a code from one without. Timing is compared by medians over many pairs taken
 * in turns, and by the share of pairs in which the first took longer (one half: nothing to learn).
 * Arguments: --calls 1500 --inFlight 32 --pairs 2000
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Catraca, openCatraca } from '../src/app/open-catraca.js'
import { startSingle } from '../test/support/redis/index.js'
import { numberArguments } from './support/arguments.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ calls: 1500, inFlight: 32, pairs: 2000 })
const figures: Record<string, number> = {}
const ratios: Record<string, number> = {}
const email = (address: string) => ({ channel: 'email', address }) as const

async function perSecond(work: (i: number) => Promise<unknown>): Promise<number> {
  let next = 0
  const start = performance.now()
  const loop = async () => {
    while (next < values.calls) await work(next++)
  }
  await Promise.all(Array.from({ length: values.inFlight }, loop))
  return values.calls / ((performance.now() - start) / 1000)
}

async function speed(name: string, { codes }: Catraca): Promise<void> {
  const issued: string[] = []
  figures[`${name}: issued/s`] = await perSecond(async (i) => {
    const answer = await codes.issue(email(`user-${i}@example.com`))
    if (answer.issued) issued[i] = answer.code
  })
  figures[`${name}: verified, wrong/s`] = await perSecond((i) =>
    codes.verify({ ...email(`user-${i}@example.com`), code: 'wrong' }),
  )
  figures[`${name}: verified, right/s`] = await perSecond(async (i) => {
    const { valid } = await codes.verify({ ...email(`user-${i}@example.com`), code: issued[i]! })
    if (!valid) throw new Error('a right code was refused')
  })
}

/** One guess at an address that has a code, and one at an address that has none, each address once. */
async function timing(name: string, { codes }: Catraca): Promise<void> {
  const took = { known: [] as number[], unknown: [] as number[] }
  let knownLonger = 0
  const guess = async (address: string): Promise<number> => {
    const start = performance.now()
    await codes.verify({ ...email(address), code: '000000x' })
    return performance.now() - start
  }
  for (let i = 0; i < values.pairs; i++) await codes.issue(email(`known-${i}@example.com`))
  for (let i = 0; i < values.pairs; i++) {
    // Which comes first takes turns too: the second one finds everything warm.
    const first = i % 2 === 0 ? await guess(`known-${i}@example.com`) : await guess(`never-${i}@example.com`)
    const second = i % 2 === 0 ? await guess(`never-${i}@example.com`) : await guess(`known-${i}@example.com`)
    const [known, unknown] = i % 2 === 0 ? [first, second] : [second, first]
    took.known.push(known)
    took.unknown.push(unknown)
    if (known > unknown) knownLonger++
  }
  figures[`${name}: wrong code, median µs`] = median(took.known) * 1000
  figures[`${name}: no code, median µs`] = median(took.unknown) * 1000
  ratios[`${name}: wrong code / no code`] = median(took.known) / median(took.unknown)
  ratios[`${name}: share of pairs in which the wrong code took longer`] = knownLonger / values.pairs
}

async function measure(name: string, store: string): Promise<void> {
  const catraca = await openCatraca({
    store,
    sweepIntervalMs: 0,
    codes: { pepper: 'a-pepper-for-the-bench' },
  })
  try {
    await speed(name, catraca)
    await timing(name, catraca)
  } finally {
    await catraca.close()
  }
}

const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
const redis = await startSingle()
try {
  await measure('embedded', `embedded:${directory}`)
  await measure('redis', redis.storeUrl)
} finally {
  await redis.stop()
  rmSync(directory, { recursive: true, force: true })
}
report({ name: 'codes', rounds: 1, setting: values, figures, ratios })
