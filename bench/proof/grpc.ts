/**
 * Decisions over gRPC at a steady rate, without one error, on a server that keeps no memory of them.
 * Arguments: --seconds 60 --perSecond 5000
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startSide } from '../support/grpc-load.js'
import { demand, type Figures, whenStarted } from '../support/proof.js'

const SIZES = { seconds: 60, perSecond: 5_000 }
type Sizes = typeof SIZES

const TICK_MS = 10
const CUSTOMERS = 1_000
/** More than a server needs that is warm, and far less than it would take for each call that it kept. */
const MOST_GROWTH_BYTES = 150e6
/** A machine that does not keep up makes the run longer, and the calls in flight stay this few. */
const MOST_IN_FLIGHT = 2_000

export async function run({ seconds, perSecond }: Sizes): Promise<Figures> {
  const side = await startSide('catraca', 'memory:')
  try {
    const total = seconds * perSecond
    const times: number[] = []
    let sent = 0
    let inFlight = 0
    let failed: unknown
    const decide = async (customer: number) => {
      const began = performance.now()
      inFlight++
      try {
        demand(await side.decide(customer), 'a decision was not OK')
        times.push(performance.now() - began)
      } catch (error) {
        failed ??= error
      }
      inFlight--
    }
    let warm: { rssBytes: number } | undefined
    await side.begin()
    const began = performance.now()
    while (sent < total || inFlight > 0) {
      const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond))
      while (sent < due && inFlight < MOST_IN_FLIGHT) void decide(sent++ % CUSTOMERS)
      await sleep(TICK_MS)
      if (failed !== undefined) throw failed
      if (warm === undefined && sent > total / 4) warm = await side.used()
    }
    const ranMs = performance.now() - began
    const { cpuMicros, rssBytes } = await side.used()
    const growth = rssBytes - (warm?.rssBytes ?? rssBytes)
    demand(times.length === total, `${times.length} of ${total} calls were answered`)
    demand(growth < MOST_GROWTH_BYTES, `the server grew by ${Math.round(growth / 1e6)} MB`)
    times.sort((a, b) => a - b)
    return {
      calls: total,
      errors: 0,
      'calls per second': Math.round((total / ranMs) * 1000),
      'p50 ms': times[total >> 1]!,
      'p99 ms': times[Math.floor(total * 0.99)]!,
      'cpu µs of the server for each': cpuMicros / total,
      'growth MB': growth / 1e6,
    }
  } finally {
    side.stop()
  }
}

await whenStarted(import.meta.url, 'grpc', SIZES, run)
