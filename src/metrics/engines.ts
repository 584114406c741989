import type { Circuit } from '../app/circuit.js'
import type { EngineCalls, VerbCalls } from '../app/engine-calls.js'
import type { Durations } from '../core/figures.js'
import type { MetricFacts, MetricGroup } from './group.js'
import type { DurationsReading, Labels, Reading } from './registry.js'

const BUCKETS_MS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 1000]

const up: MetricFacts = {
  name: 'catraca_engine_up',
  type: 'gauge',
  help: 'Whether the store answered the last health probe, at most 5 s ago: 1 or 0.',
  labels: ['engine', 'store'],
  together: 'min',
}
const calls: MetricFacts = {
  name: 'catraca_engine_calls_total',
  type: 'counter',
  help: 'Engine calls of the main thread, by outcome: ok, unavailable, timeout, unknown_outcome or error. Checks that the embedded store answers from mapped memory are not counted.',
  labels: ['engine', 'capability', 'verb', 'outcome'],
}
const duration: MetricFacts = {
  name: 'catraca_engine_call_duration_seconds',
  type: 'histogram',
  help: 'Duration of asynchronous engine calls.',
  labels: ['engine', 'capability'],
  buckets: BUCKETS_MS.map((ms) => ms / 1000),
}
const failures: MetricFacts = {
  name: 'catraca_engine_connection_failures_total',
  type: 'counter',
  help: 'Connections to a store that failed or were lost. For DynamoDB: attempts of calls that failed on the network.',
  labels: ['engine'],
}
const latency: MetricFacts = {
  name: 'redis_operation_latency_ms',
  type: 'histogram',
  help: 'Duration of engine calls to Redis, by capability and verb of catraca_engine_calls_total, such as CACHE_READ, LIMITS_COUNTERS_TAKE or ALLOWLISTS_CHECKS_MEMBER.',
  labels: ['operation'],
  buckets: BUCKETS_MS,
}

const commandDuration: MetricFacts = {
  name: 'redis_command_duration_seconds',
  type: 'histogram',
  help: 'Time from sending a command to Redis to its answer, by command, such as EVALSHA or GET. One command may carry many calls.',
  labels: ['command'],
  buckets: BUCKETS_MS.map((ms) => ms / 1000),
}
const circuitOpen: MetricFacts = {
  name: 'catraca_engine_circuit_open',
  type: 'gauge',
  help: 'Whether calls of this kind (read or write) fail at once because the store did not answer lately: 1 or 0.',
  labels: ['engine', 'capability', 'kind'],
  together: 'max',
}
const refused: MetricFacts = {
  name: 'catraca_engine_calls_refused_total',
  type: 'counter',
  help: 'Calls that failed at once because the store did not answer lately.',
  labels: ['engine', 'capability', 'kind'],
}

export const engineMetrics: MetricGroup = {
  title: 'Engines',
  metrics: [up, calls, duration, failures, circuitOpen, refused, latency, commandDuration],
  register(registry, { catraca: { engineFigures } }) {
    const verbs = () => [...engineFigures.calls.rows()]
    registry.read(up, async () =>
      (await engineFigures.up()).map(({ engine, store, isUp }): Reading => [isUp ? 1 : 0, { engine, store }]),
    )
    registry.read(calls, () => verbs().flatMap(outcomes))
    registry.readDurations(duration, () => byCapability(engineFigures.calls))
    registry.read(failures, () =>
      [...engineFigures.connectionFailures()].map(([engine, count]): Reading => [count, { engine }]),
    )
    const ofCircuits = (figure: (circuit: Circuit) => number) => () =>
      engineFigures.circuits().map((circuit): Reading => {
        const { engine, capability, kind } = circuit.parts
        return [figure(circuit), { engine, capability, kind }]
      })
    registry.read(
      circuitOpen,
      ofCircuits(({ state }) => (state === 'closed' ? 0 : 1)),
    )
    registry.read(
      refused,
      ofCircuits(({ refused }) => refused),
    )
    registry.readDurations(latency, () =>
      verbs()
        .filter(({ engine, durations }) => engine === 'redis' && durations.count > 0)
        .map((verb): DurationsReading => [verb.durations, { operation: operationOf(verb) }]),
    )
    registry.readDurations(commandDuration, () => byCommand(engineFigures.commandTimes()))
  },
}

/**
 * All outcomes of a verb once it was called: a series that starts at its first failure never shows an increase. Of a
 * verb that was never called, only the outcome that has an alert, because most verbs are never called.
 */
function outcomes({ engine, capability, verb, outcomes }: VerbCalls): Reading[] {
  const wasCalled = Object.values(outcomes).some((count) => count > 0)
  return Object.entries(outcomes).flatMap(([outcome, count]): Reading[] =>
    wasCalled || outcome === 'unknown_outcome' ? [[count, { engine, capability, verb, outcome }]] : [],
  )
}

function byCapability(calls: EngineCalls): DurationsReading[] {
  const used = [...calls.rows()].filter(({ durations }) => durations.count > 0)
  return summed(
    used.map(({ engine, capability, durations }) => [
      `${engine}/${capability}`,
      durations,
      { engine, capability },
    ]),
  )
}

const byCommand = (times: readonly (readonly [string, Durations])[]): DurationsReading[] =>
  summed(times.map(([command, durations]) => [command, durations, { command }]))

function summed(
  rows: readonly (readonly [key: string, durations: Durations, labels: Labels])[],
): DurationsReading[] {
  const sums = new Map<string, DurationsReading>()
  for (const [key, durations, labels] of rows) {
    const known = sums.get(key)
    if (known === undefined) sums.set(key, [durations.copy(), labels])
    else addTo(known[0], durations)
  }
  return [...sums.values()]
}

function addTo(sum: Durations, { counts, count, sumMs }: Durations): void {
  for (let i = 0; i < counts.length; i++) sum.counts[i]! += counts[i]!
  sum.count += count
  sum.sumMs += sumMs
}

/** `limits` and `counters.giveBack`: `LIMITS_COUNTERS_GIVE_BACK`. */
const operationOf = ({ capability, verb }: VerbCalls): string =>
  `${capability}.${verb}`
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .replaceAll('.', '_')
    .toUpperCase()
