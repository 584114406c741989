import { writeFileSync } from 'node:fs'
import { createClient } from '../../client/index.js'
import { CatracaError } from '../../core/errors.js'
import { identifier, plainName } from '../../core/identifiers.js'
import { connectCatraca } from '../../remote/index.js'
import type { LoadFlags } from '../commands/bench.js'
import { configOf } from '../commands/support/session.js'
import { onInterrupt } from '../commands/support/stop-signal.js'
import { serverTarget } from '../commands/support/target.js'
import { EXIT, Exit } from '../output/failure.js'
import { note, printJson, printLine } from '../output/print.js'
import { seeded } from './arrivals.js'
import { type Display, openDisplay } from './display.js'
import { type Bounds, broken, findMax, ramp, type Step } from './find-max.js'
import { htmlReport } from './html-report.js'
import { measure } from './measure.js'
import { membersOf } from './members.js'
import type { MixContext } from './mixes/mix.js'
import { mixesOf, openMix, parseMix } from './mixes/table.js'
import { type Origin, originOf } from './origin.js'
import { cleanUp, type Preparation, prepare } from './prepare.js'
import type { NextRequest } from './request.js'
import type { LoadResult } from './result.js'
import { stepLine, textReport } from './text-report.js'

const PREPARED_LIST = 'load-allowlist'
/** Where `--find-max` ends unless a limit is exceeded before. */
const HIGHEST_RATE = 200_000

interface Scene {
  flags: LoadFlags
  origin: Origin
  preparation: Preparation
  display: Display
  /** Ends the run with a report. */
  interruption: ReturnType<typeof onInterrupt>
  random: () => number
}

/** `catraca bench load`. */
export async function runLoad(flags: LoadFlags): Promise<void> {
  if (flags.connections > flags.maxConnections)
    throw new CatracaError('INVALID_INPUT', 'connections must not be more than max-connections')
  const scene = await openScene(flags)
  const { preparation, display, interruption } = scene
  try {
    if (flags.prepare) await prepare(preparation)
    const next = openMix(parseMix(flags.mix), preparation.context)
    const { result, steps } = await runAll(scene, next)
    display.close()
    tell(flags, result, steps)
    await conclude(flags, result, steps)
  } finally {
    display.close()
    interruption.ignore()
    if (flags.cleanup) await cleanUp(preparation)
  }
}

async function openScene(flags: LoadFlags): Promise<Scene> {
  const { client: server } = configOf(flags, { 'client.url': 'url' })
  if (server.url === undefined) throw new CatracaError('INVALID_INPUT', 'name the server: --url URL')
  const key = () => server.key.read()
  const origin = originOf(server.url, key())
  const random = seeded(flags.seed ?? Date.now() % 2 ** 32)
  const target = serverTarget(connectCatraca({ url: origin.url, key, timeoutMs: 0 }))
  const mixes = mixesOf(parseMix(flags.mix))
  const lists = (flags.lists ?? [PREPARED_LIST]).map((id) => plainName('lists', id))
  const context: MixContext = {
    ...{ origin, random, lists, keys: flags.keys, cacheSpace: identifier('cache-space', flags.cacheSpace) },
    members: mixes.some(({ needsLists }) => needsLists) ? await membersOf(flags, target, lists) : [],
    runId: `load-${Date.now().toString(36)}`,
  }
  const display = openDisplay(flags.json ? process.stderr : process.stdout)
  const preparation: Preparation = {
    ...{ target, client: createClient({ url: origin.url, key }), context, mixes },
    tell: (line) => note(`catraca: ${line}`),
  }
  return { flags, origin, preparation, display, interruption: onInterrupt(['SIGINT']), random }
}

interface Outcome {
  /** Result of the only run, of the best step, or of the last one. */
  result: LoadResult
  steps: Step[]
}

async function runAll(scene: Scene, next: NextRequest): Promise<Outcome> {
  const { flags, display, interruption } = scene
  if (!flags.findMax && flags.ramp === undefined) {
    const onSample = display.sample
    const result = await measure({ ...measurement(scene, next, flags.rate, flags.duration), onSample })
    return { result, steps: [] }
  }
  const steps: Step[] = []
  let last: LoadResult | undefined
  const run = async (rate: number): Promise<LoadResult> => {
    const step = measurement(scene, next, rate, flags.stepDuration)
    last = await measure({ ...step, onSample: display.sample })
    return last
  }
  const { from, to } = flags.ramp ?? { from: flags.rate, to: HIGHEST_RATE }
  const onStep = (step: Step) => {
    steps.push(step)
    display.say(stepLine(step))
  }
  const search = { from, to, onStep, isStopped: () => interruption.signal.aborted }
  const best = await (flags.ramp ? ramp : findMax)(run, boundsOf(flags), search)
  display.say(best ? `highest rate that kept the bounds: ${best.rate}/s` : 'no rate kept the bounds')
  return { result: best?.result ?? last!, steps }
}

function measurement(
  { flags, origin, preparation, interruption, random }: Scene,
  next: NextRequest,
  rate: number,
  durationMs: number,
) {
  const { arrivals, connections, maxConnections, spin, timeout: timeoutMs, warmUp: warmUpMs, mix } = flags
  const plan = { rate, durationMs, arrivals, connections, maxConnections, timeoutMs, spin, random }
  return { origin, client: preparation.client, plan, warmUpMs, mix, next, signal: interruption.signal }
}

function boundsOf({ maxP99, maxErrors }: LoadFlags): Bounds {
  return {
    ...(maxP99 !== undefined && { maxP99Ms: maxP99 }),
    ...(maxErrors !== undefined && { maxErrors }),
  }
}

function tell(flags: LoadFlags, result: LoadResult, steps: Step[]): void {
  const searched = steps.map(({ rate, isKept, firstBroke, result: of }) => ({
    ...{ rate, isKept, ...(firstBroke && { firstBroke }), achievedRate: of.achievedRate },
    ...{ p99Ms: of.latencyMs.p99, errorCount: of.errorCount, lateShare: of.generator.lateShare },
    ...(of.answers && { shares: of.answers.shares }),
  }))
  const report = steps.length === 0 ? result : { ...result, steps: searched }
  if (flags.json) printJson(report)
  else for (const line of textReport(result)) printLine(line)
  if (flags.report !== undefined) save(flags.report, `${JSON.stringify(report, null, 2)}\n`)
  if (flags.html !== undefined) save(flags.html, htmlReport(result, steps))
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CatracaError('INVALID_INPUT', `the report cannot be written to ${file} (${code})`)
  }
}

/** The exit code says whether the run, or any step, stayed within the limits. */
async function conclude(flags: LoadFlags, result: LoadResult, steps: Step[]): Promise<void> {
  if (steps.length > 0) {
    if (!steps.some(({ isKept }) => isKept)) throw new Exit(EXIT.failure)
    return
  }
  const wrong = broken(result, boundsOf(flags))
  for (const line of wrong) note(`catraca: ${line}`)
  if (wrong.length > 0) throw new Exit(EXIT.failure)
}
