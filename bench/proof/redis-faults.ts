/**
 * Faults while pods check at a steady rate and a writer changes members: no wrong answer about customers that nobody
 * touches, no call past its timeout, recovery without a restart, and in the end every pod says what the store says.
 * Writes that were acknowledged and lost by an asynchronous failover are counted, not hidden.
 * Arguments: --checksPerSecond 1000 --stopSeconds 60 --commandTimeoutMs 2000 --connectTimeoutMs 2000 --calmMs 3000
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RedisServers } from '../../test/support/redis/index.js'
import { startCluster, startSentinel, startSingle } from '../../test/support/redis/index.js'
import { type Figures, whenStarted } from '../support/proof.js'
import { type Scene, withScene } from '../support/redis-scene.js'

const SIZES = {
  checksPerSecond: 1000,
  stopSeconds: 60,
  commandTimeoutMs: 2000,
  connectTimeoutMs: 2000,
  calmMs: 3000,
}
type Sizes = typeof SIZES

interface Fault {
  start(): Promise<RedisServers>
  /** Does the harm, and returns when it is over. */
  strike(scene: Scene, sizes: Sizes): Promise<void>
  /** Everything is gone afterwards, as somebody wanted it. */
  empties?: true
  /** The server took the primary down without a word to its replicas: what they had not heard is lost. */
  mayLose?: true
}

const killPrimary = async ({ redis }: Scene): Promise<void> => {
  for (const primary of await redis.primaries()) {
    // In a cluster the others refuse the question, and their death would harm nobody.
    if ((await primary.say('EXISTS', 'allowlist:a').catch(() => 0)) === 1) await primary.kill()
  }
}

const everyPrimary = async ({ redis }: Scene, ...command: string[]): Promise<void> => {
  for (const primary of await redis.primaries()) await primary.say(...command).catch(() => {})
}

export const FAULTS: Record<string, Fault> = {
  'sentinel: primary killed': { start: startSentinel, strike: killPrimary, mayLose: true },
  'cluster: primary killed': { start: startCluster, strike: killPrimary, mayLose: true },
  'all connections killed': {
    start: startSingle,
    async strike(scene) {
      for (let i = 0; i < 10; i++) {
        await everyPrimary(scene, 'CLIENT', 'KILL', 'TYPE', 'normal')
        await everyPrimary(scene, 'CLIENT', 'KILL', 'TYPE', 'pubsub')
        await sleep(200)
      }
    },
  },
  'server sleeps 5 s': { start: startSingle, strike: (scene) => everyPrimary(scene, 'DEBUG', 'SLEEP', '5') },
  'log trimmed to nothing': {
    start: startSingle,
    async strike(scene) {
      for (let i = 0; i < 20; i++) {
        await everyPrimary(scene, 'XTRIM', '{allowlist:a}:log', 'MAXLEN', '0')
        await sleep(50)
      }
    },
  },
  'pod stopped': {
    start: startSingle,
    async strike({ pods }, { stopSeconds }) {
      pods[0]!.process.kill('SIGSTOP')
      await sleep(1000 * stopSeconds)
      pods[0]!.process.kill('SIGCONT')
    },
  },
  'server flushed': { start: startSingle, strike: (scene) => everyPrimary(scene, 'FLUSHALL'), empties: true },
}

export async function run(
  given: Partial<Sizes>,
  names: readonly string[] = Object.keys(FAULTS),
): Promise<Figures> {
  let figures: Figures = {}
  for (const name of names) figures = { ...figures, ...(await runOnOne(given, [name])) }
  return figures
}

/** These faults one after the other on the same servers and pods, for which the first of them is asked. */
export async function runOnOne(given: Partial<Sizes>, names: readonly string[]): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  const figures: Figures = {}
  await withScene(await FAULTS[names[0]!]!.start(), sizes, async (scene) => {
    for (const name of names) {
      for (const [figure, value] of Object.entries(await suffer(scene, FAULTS[name]!, sizes)))
        figures[`${name}: ${figure}`] = value
    }
  })
  return figures
}

async function suffer(scene: Scene, fault: Fault, sizes: Sizes): Promise<Figures> {
  scene.write()
  await sleep(sizes.calmMs / 2)
  await scene.demandRight('before')
  if (fault.empties) scene.expectEmpty()
  const beginMs = performance.now()
  await fault.strike(scene, sizes)
  const endMs = performance.now()
  const calmAtMs = await scene.untilCalm(endMs, sizes.calmMs)
  const seen = await scene.demandRight('after')
  const { acknowledged, lost } = await scene.settle(fault.empties === true, fault.mayLose === true)
  return {
    strikeMs: endMs - beginMs,
    recoveryMs: Math.max(0, calmAtMs - endMs),
    checks: seen.checks,
    errors: seen.errors,
    slowestCheckMs: seen.slowestMs,
    acknowledgedWrites: acknowledged,
    lostWrites: lost,
  }
}

await whenStarted(import.meta.url, 'redis-faults', SIZES, run)
