/**
 * The source's load profile on `catraca serve`, a process of its own on core 0, by `catraca bench load` on core 1: at a
 * fixed rate without an error, then the highest rate that keeps the p99 under its bound. On the embedded store, on a
 * Redis server and on the DynamoDB emulator dynoxide with a relay, or on those named in the arguments.
 * Arguments: --rate 5000 --seconds 60 --stepSeconds 5 --members 150000 --maxP99Ms 10 [embedded redis dynamodb]
 */
import { fileURLToPath } from 'node:url'
import type { LoadResult } from '../../src/cli/load/result.js'
import { numberArguments } from '../support/arguments.js'
import { LOAD_STORES, type LoadStore, withServer } from '../support/load-stores.js'
import { demand, type Figures } from '../support/proof.js'
import { report } from '../support/report.js'
import { runCommand } from '../support/served.js'

const SIZES = { rate: 5000, seconds: 60, stepSeconds: 5, members: 150_000, maxP99Ms: 10 }
const SERVER_CORE = 0
const LOAD_CORE = 1
const WARM_UP_SECONDS = 3
/** The emulator takes rows slowly; up to 10,000 checks a second no member of so many comes back within a minute. */
const DYNAMODB_MEMBERS = 30_000

type Sizes = typeof SIZES
/** `stepSeconds` 0 leaves the search out; `isPinned` keeps server and generator on cores of their own. */
export type LoadProof = Partial<Sizes> & { stores?: readonly LoadStore[]; isPinned?: boolean }

export async function run({ stores = LOAD_STORES, isPinned = true, ...given }: LoadProof): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  let figures: Figures = {}
  for (const kind of stores) {
    const found = await withServer(kind, isPinned ? SERVER_CORE : undefined, (server) =>
      prove(server.url, sizesOn(kind, sizes), isPinned),
    )
    const named = Object.entries(found).map(([name, value]) => [`${kind}: ${name}`, value])
    figures = { ...figures, ...Object.fromEntries(named) }
  }
  return figures
}

function sizesOn(kind: LoadStore, sizes: Sizes): Sizes {
  if (kind !== 'dynamodb') return sizes
  return { ...sizes, members: Math.min(sizes.members, DYNAMODB_MEMBERS) }
}

async function prove(url: string, sizes: Sizes, isPinned: boolean): Promise<Figures> {
  const { rate, seconds, stepSeconds, members, maxP99Ms } = sizes
  const common = [
    '--url',
    url,
    '--members',
    `${members}`,
    '--json',
    ...(isPinned ? [] : ['--no-spin', '--timeout', '1m']),
  ]
  const load = async (...args: string[]): Promise<LoadResult> => {
    const options = isPinned ? { core: LOAD_CORE } : {}
    return JSON.parse(await runCommand(['bench', 'load', ...common, ...args], options)) as LoadResult
  }
  const warmUp = ['--warm-up', `${Math.min(WARM_UP_SECONDS, seconds)}s`]
  const steady = await load('--prepare', '--rate', `${rate}`, '--duration', `${seconds}s`, ...warmUp)
  demand(steady.errorCount === 0, `errors at ${rate}/s: ${JSON.stringify([steady.errors, steady.statuses])}`)
  demand(steady.answered === steady.due, `${steady.due - steady.answered} requests have no answer`)
  demandMix(steady)
  const figures = steadyFigures(steady)
  if (stepSeconds === 0) return figures
  const bound = ['--max-p99', `${maxP99Ms}ms`, '--step-duration', `${stepSeconds}s`, '--warm-up', '1s']
  const best = await load('--find-max', '--rate', `${Math.max(1, Math.round(rate / 2))}`, ...bound)
  demandMix(best)
  return {
    ...figures,
    [`highest rate with p99 under ${maxP99Ms} ms`]: best.rate,
    'p99 ms there': best.latencyMs.p99,
    'sent late there, share': best.generator.lateShare,
    'share confirmed there': best.answers!.shares.confirmed,
  }
}

/** By the server's own count, warm-up included: the hot ones have to be confirmed once, and again each minute. */
function demandMix({ answers, due }: LoadResult): void {
  demand(answers !== undefined, 'the server did not say how it made its answers')
  const { verified, filtered, confirmed } = answers!.shares
  // Few answers, and the hundred hot customers weigh more.
  const slack = 0.03 + 150 / due
  const near = (share: number, expected: number) => Math.abs(share - expected) <= slack
  const isRight = near(verified, 0.8) && near(filtered, 0.15) && near(confirmed, 0.05)
  demand(isRight, `the answers were not those of the mix: ${JSON.stringify(answers!.counts)}`)
}

function steadyFigures({
  rate,
  achievedRate,
  latencyMs,
  serviceMs,
  errorCount,
  answers,
  generator,
}: LoadResult) {
  const at = `at ${rate}/s`
  return {
    [`${at}: answered/s`]: achievedRate,
    [`${at}: errors`]: errorCount,
    [`${at}: p50 ms`]: latencyMs.p50,
    [`${at}: p95 ms`]: latencyMs.p95,
    [`${at}: p99 ms`]: latencyMs.p99,
    [`${at}: p99 of service ms`]: serviceMs.p99,
    [`${at}: longest ms`]: latencyMs.max,
    [`${at}: share answered by cache`]: answers!.shares.verified,
    [`${at}: share filtered`]: answers!.shares.filtered,
    [`${at}: share confirmed`]: answers!.shares.confirmed,
    [`${at}: share sent late by the generator`]: generator.lateShare,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = numberArguments(SIZES)
  const stores = LOAD_STORES.filter((kind) => positionals.length === 0 || positionals.includes(kind))
  const figures = await run({ ...values, stores })
  const setting = { ...values, stores: stores.join(', ') }
  report({ name: 'proof-load', rounds: 1, setting, figures, ratios: {} })
}
