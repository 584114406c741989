import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lane } from './history.js'
import type { EngineName, Stage } from './stage.js'

/** Whole numbers below `n`, the same for the same seed. */
export type Chance = (n: number) => number

export interface Field {
  stage: Stage
  chance: Chance
  /** The processes of the pods; killed ones are started again. */
  pods: {
    readonly pid: number
    kill(): Promise<void>
    stop(): void
    resume(): void
    /** So much before or behind the clock of the machine. */
    setClock(offsetMs: number): void
  }[]
}

interface Fault {
  engines: readonly EngineName[]
  /** The store may lose things, as the guarantees declare. */
  losesData?: true
  /** Only of these guards. Absent: of all. */
  lanes?: readonly Lane[]
  /** Pods may end by themselves, as the guarantees declare. */
  mayEnd?: boolean
  strike(field: Field, forMs: number): Promise<void>
}

const NETWORKS = ['redis', 'dynamodb'] as const
const REDIS = ['redis'] as const

async function onSome(
  { stage, chance }: Field,
  act: (proxy: Stage['proxies'][number]) => void,
  all: boolean,
) {
  const { proxies } = stage
  const from = all ? 0 : chance(proxies.length)
  for (const proxy of all ? proxies : [proxies[from]!]) act(proxy)
}

async function network(
  field: Field,
  forMs: number,
  on: (proxy: Stage['proxies'][number]) => void,
): Promise<void> {
  await onSome(field, on, field.chance(2) === 0)
  await sleep(forMs)
  for (const proxy of field.stage.proxies) {
    proxy.mode = 'pass'
    proxy.delayMs = 0
    proxy.messages = 'pass'
  }
}

const say = async ({ stage }: Field, ...command: string[]): Promise<void> => {
  for (const primary of await stage.redis!.primaries()) await primary.say(...command).catch(() => {})
}

const FULL_AT_BYTES = 64 * 1024

/** No file of the process may grow beyond this: what a full disk does, without filling one. */
function limitFiles(pid: number, bytes: number | 'unlimited'): void {
  try {
    execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`], { stdio: 'pipe' })
  } catch (error) {
    // Why a process ended is told elsewhere.
    if (existsSync(`/proc/${pid}`)) throw error
  }
}

const LONGEST_STEP_MS = 20_000

/** Forward or back by up to 20 s, and later right again. */
async function setClocks(pods: Field['pods'], chance: Chance, forMs: number): Promise<void> {
  const offsetMs = chance(2 * LONGEST_STEP_MS) - LONGEST_STEP_MS
  for (const pod of pods) pod.setClock(offsetMs)
  await sleep(forMs)
  for (const pod of pods) pod.setClock(0)
}

export const FAULTS: Record<string, Fault> = {
  'pod killed': {
    engines: ['embedded', 'redis', 'sentinel', 'dynamodb'],
    strike: ({ pods, chance }) => pods[chance(pods.length)]!.kill(),
  },
  'pod stopped': {
    engines: ['embedded', 'redis', 'sentinel', 'dynamodb'],
    async strike({ pods, chance }, forMs) {
      const pod = pods[chance(pods.length)]!
      pod.stop()
      await sleep(forMs)
      pod.resume()
    },
  },
  'clock of the machine set': {
    engines: ['embedded'],
    // All that this clock times ends early. Fences grow even so.
    losesData: true,
    lanes: ['limits', 'locks'],
    strike: ({ pods, chance }, forMs) => setClocks(pods, chance, forMs),
  },
  'clock of a pod set': {
    engines: ['redis', 'sentinel'],
    strike: ({ pods, chance }, forMs) => setClocks([pods[chance(pods.length)]!], chance, forMs),
  },
  'clock of a pod set, until it is corrected': {
    engines: ['dynamodb'],
    losesData: true,
    lanes: ['limits'],
    strike: ({ pods, chance }, forMs) => setClocks([pods[chance(pods.length)]!], chance, forMs),
  },
  'disk full': {
    engines: ['embedded'],
    // LMDB damages its memory when a write fails in the middle of a transaction.
    mayEnd: true,
    async strike({ pods }, forMs) {
      for (const { pid } of pods) limitFiles(pid, FULL_AT_BYTES)
      await sleep(forMs)
      for (const { pid } of pods) limitFiles(pid, 'unlimited')
      // A write that failed on the disk leaves the store unusable to its process, as the guarantees declare.
      for (const pod of pods) await pod.kill()
    },
  },
  'disk of the store full': {
    engines: REDIS,
    // It ends at the first write, because it acknowledges nothing that is not on the disk.
    async strike(field, forMs) {
      const [server] = field.stage.redis!.servers
      const pid = Number(/process_id:(\d+)/.exec(String(await server!.say('INFO', 'server')))![1])
      limitFiles(pid, 1)
      await sleep(forMs)
      await server!.restart()
    },
  },
  'messages lost': {
    engines: REDIS,
    strike: (field, forMs) =>
      network(field, forMs, (proxy) => {
        proxy.messages = 'lose'
      }),
  },
  'messages twice': {
    engines: REDIS,
    strike: (field, forMs) =>
      network(field, forMs, (proxy) => {
        proxy.messages = 'repeat'
      }),
  },
  'subscriptions cut': {
    engines: ['redis', 'sentinel'],
    strike: (field) => say(field, 'CLIENT', 'KILL', 'TYPE', 'pubsub'),
  },
  'store stopped': {
    engines: NETWORKS,
    async strike({ stage }, forMs) {
      const server = stage.redis?.servers[0] ?? stage.dynamo!.server
      server.pause()
      await sleep(forMs)
      server.resume()
    },
  },
  'store killed': {
    engines: REDIS,
    async strike({ stage }, forMs) {
      await stage.redis!.servers[0]!.kill()
      await sleep(forMs)
      await stage.redis!.servers[0]!.restart()
    },
  },
  partition: {
    engines: NETWORKS,
    strike: (field, forMs) =>
      network(field, forMs, (proxy) => {
        proxy.mode = 'hush'
      }),
  },
  'connections cut': {
    engines: NETWORKS,
    strike: (field, forMs) =>
      network(field, forMs, (proxy) => {
        proxy.mode = 'cut'
      }),
  },
  'slow network': {
    engines: NETWORKS,
    strike: (field, forMs) =>
      network(field, forMs, (proxy) => {
        proxy.delayMs = 20 + field.chance(200)
      }),
  },
  'script cache flushed': {
    engines: ['redis', 'sentinel'],
    strike: (field) => say(field, 'SCRIPT', 'FLUSH'),
  },
  'everything flushed': { engines: REDIS, losesData: true, strike: (field) => say(field, 'FLUSHALL') },
  'store full': {
    engines: REDIS,
    async strike(field, forMs) {
      await say(field, 'CONFIG', 'SET', 'maxmemory', '1mb')
      await sleep(forMs)
      await say(field, 'CONFIG', 'SET', 'maxmemory', '0')
    },
  },
  'primary killed': {
    engines: ['sentinel'],
    // Replication is asynchronous: what the replicas had not heard is lost.
    losesData: true,
    async strike({ stage }, forMs) {
      for (const primary of await stage.redis!.primaries()) {
        await primary.kill()
        await sleep(forMs + 6000)
        await primary.restart()
      }
      await sleep(2000)
    },
  },
  throttled: {
    engines: ['dynamodb'],
    async strike({ stage }, forMs) {
      stage.dynamo!.faults.inject({ kind: 'throttled' })
      await sleep(forMs)
      stage.dynamo!.faults.clear()
    },
  },
  'answers lost': {
    engines: ['dynamodb'],
    async strike({ stage, chance }) {
      stage.dynamo!.faults.inject({ kind: 'reset', when: 'after' }, { times: 5 + chance(30) })
      await sleep(1000)
      stage.dynamo!.faults.clear()
    },
  },
  'server errors': {
    engines: ['dynamodb'],
    async strike({ stage }, forMs) {
      stage.dynamo!.faults.inject({ kind: 'server-error' })
      await sleep(forMs)
      stage.dynamo!.faults.clear()
    },
  },
}

export const faultsOf = (engine: EngineName): string[] =>
  Object.keys(FAULTS).filter((name) => FAULTS[name]!.engines.includes(engine))

/** A small generator whose numbers only depend on the seed (mulberry32). */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n
  }
}
