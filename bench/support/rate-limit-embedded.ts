import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { type Catraca, type OpenOptions, openCatraca } from '../../src/app/open-catraca.js'
import type { Sizes } from './rate-limit-redis.js'
import { type Call, figuresOf, type Rounds, ratiosOf, takeTurns, visitAll } from './turns.js'

const OPEN_LIMIT = { capacity: 1_000_000_000, refillPeriodSeconds: 1 }
const AHEAD = { limits: { localLease: { tokens: 10_000, ms: 1000 } } } satisfies OpenOptions

/** Acquires on the embedded engine: exact (every decision in the store, which others may share), and with tokens taken ahead. */
export async function measureEmbedded(sizes: Sizes) {
  const rounds: Rounds = {}
  const exact = await open({})
  const onDisk = await open({ embedded: { limitsDurability: 'disk' } })
  const leasing = await open(AHEAD)
  const memory = new RateLimiterMemory({ points: 1_000_000_000, duration: 60 })
  const taking =
    ({ limits }: Catraca, resource: string, among = sizes.keys): Call =>
    (i) =>
      limits.acquire({ entity: `user-${i % among}`, resource })
  const many = {
    'exact, one limit': taking(exact.catraca, 'one'),
    'exact, two limits': taking(exact.catraca, 'two'),
    'exact, one key': taking(exact.catraca, 'one', 1),
    'exact on disk': taking(onDisk.catraca, 'one'),
  }
  const here = {
    'denied, used up': taking(exact.catraca, 'spent', 1),
    'taken ahead, one key': taking(leasing.catraca, 'one', 1),
    'taken ahead, 100 keys': taking(leasing.catraca, 'one', 100),
    'rate-limiter-flexible in memory': ((i) => memory.consume(`user-${i % 100}`)) as Call,
  }
  try {
    for (const call of Object.values(many)) await visitAll(call, sizes.keys)
    for (let round = 0; round < sizes.rounds; round++) {
      await takeTurns(many, sizes, rounds)
      await takeTurns(
        { 'exact, 512 in flight': many['exact, one limit'] },
        { ...sizes, inFlight: 512 },
        rounds,
      )
      await takeTurns({ 'exact, one in flight': many['exact, one limit'] }, { ...sizes, inFlight: 1 }, rounds)
      await takeTurns(here, sizes, rounds)
    }
    return { figures: figuresOf(rounds), ratios: embeddedRatios(rounds) }
  } finally {
    for (const { close } of [exact, onDisk, leasing]) await close()
  }
}

function embeddedRatios(rounds: Rounds) {
  return {
    ...ratiosOf(rounds, 'two limits / one limit', 'exact, two limits', 'exact, one limit'),
    ...ratiosOf(
      rounds,
      'taken ahead / rate-limiter-flexible in memory',
      'taken ahead, 100 keys',
      'rate-limiter-flexible in memory',
    ),
  }
}

async function open(options: OpenOptions): Promise<{ catraca: Catraca; close(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
  const catraca = await openCatraca({ store: `embedded:${directory}`, sweepIntervalMs: 0, ...options })
  const system = (resource: string, limits: Record<string, object>) =>
    catraca.limits.setConfig({ level: 'system', resource }, { limits })
  await system('one', { rpm: OPEN_LIMIT })
  await system('two', { rpm: OPEN_LIMIT, tpm: OPEN_LIMIT })
  await system('spent', { rph: { capacity: 1, refillPeriodSeconds: 3600 } })
  await catraca.limits.warmUp()
  return {
    catraca,
    async close() {
      await catraca.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
