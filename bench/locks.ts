/**
 * Acquire and release over one Redis on loopback, 32 at a time, in turns with two bare EVALSHA through the same client
 * (as it comes, and without its timeouts, as the engine uses it), redlock-universal and node-redlock 5. Then the
 * embedded engine. Rates by the clock, and by the CPU time of this process, which a busy machine disturbs less.
 * Arguments: --seconds 3 --rounds 3 --inFlight 32
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatraca } from '../src/app/open-catraca.js'
import { numberArguments } from './support/arguments.js'
import { lockContenders } from './support/lock-contenders.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ seconds: 3, rounds: 3, inFlight: 32 })
const SLICES = 10
/** Each loop has names of its own: nobody is ever refused. */
const NAMES_PER_LOOP = 300

type LockAndRelease = (name: string) => Promise<unknown>

interface Load {
  done: number
  ms: number
  cpuMs: number
}

async function load(call: LockAndRelease, ms: number, inFlight: number): Promise<Load> {
  let done = 0
  const cpu = process.cpuUsage()
  const start = performance.now()
  const loop = async (number: number) => {
    for (let i = 0; performance.now() - start < ms; i++) {
      await call(`${number}:${i % NAMES_PER_LOOP}`)
      done++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, i) => loop(i)))
  const { user, system } = process.cpuUsage(cpu)
  return { done, ms: performance.now() - start, cpuMs: (user + system) / 1000 }
}

async function takeTurns(contenders: Record<string, LockAndRelease>, inFlight: number) {
  const sums = new Map(Object.keys(contenders).map((name) => [name, { done: 0, ms: 0, cpuMs: 0 }]))
  // The first ones are for the compiler.
  for (let slice = -3; slice < SLICES; slice++) {
    for (const [name, call] of Object.entries(contenders)) {
      const { done, ms, cpuMs } = await load(call, (values.seconds * 1000) / SLICES, inFlight)
      const sum = sums.get(name)!
      if (slice >= 0) Object.assign(sum, { done: sum.done + done, ms: sum.ms + ms, cpuMs: sum.cpuMs + cpuMs })
    }
  }
  return sums
}

type Rates = Record<string, { wall: number[]; cpu: number[] }>

async function measure(contenders: Record<string, LockAndRelease>, inFlight: number, rates: Rates) {
  for (let round = 0; round < values.rounds; round++) {
    for (const [name, { done, ms, cpuMs }] of await takeTurns(contenders, inFlight)) {
      const rate = (rates[`${name}, ${inFlight} in flight`] ??= { wall: [], cpu: [] })
      rate.wall.push((1000 * done) / ms)
      rate.cpu.push((1000 * done) / cpuMs)
    }
  }
}

const rates: Rates = {}
const { contenders, close } = await lockContenders()
try {
  await measure(contenders, values.inFlight, rates)
  await measure(contenders, 1, rates)
} finally {
  await close()
}

const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
const embedded = await openCatraca({ store: `embedded:${directory}`, sweepIntervalMs: 0 })
const onEmbedded: LockAndRelease = async (name) => {
  const answer = await embedded.locks.acquire(name)
  if (answer.acquired) await embedded.locks.release(name, answer.token)
}
await measure({ 'catraca, embedded on disk': onEmbedded }, values.inFlight, rates)
await embedded.close()
rmSync(directory, { recursive: true, force: true })

const figures = Object.entries(rates).flatMap(([name, { wall, cpu }]): [string, number][] => [
  [`${name}/s`, median(wall)],
  [`${name}, per CPU second`, median(cpu)],
])
const own = rates[`catraca, ${values.inFlight} in flight`]!
const ratios = Object.keys(contenders)
  .filter((name) => name !== 'catraca')
  .flatMap((name): [string, number][] => {
    const other = rates[`${name}, ${values.inFlight} in flight`]!
    return [
      [`catraca / ${name}`, median(own.wall.map((rate, i) => rate / other.wall[i]!))],
      [`catraca / ${name}, by CPU time`, median(own.cpu.map((rate, i) => rate / other.cpu[i]!))],
    ]
  })
report({
  name: 'locks',
  rounds: values.rounds,
  setting: { seconds: values.seconds, inFlight: values.inFlight },
  figures: Object.fromEntries(figures),
  ratios: Object.fromEntries(ratios),
})
