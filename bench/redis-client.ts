/**
 * One server on loopback: the clients as they are, and the same through this product's connection, one at a time and
 * with many in flight. What is compared closely takes turns in one process; the others have processes of their own,
 * because what one leaves in the heap slows the next.
 * Arguments: --rounds 3 --slices 10 --sliceMs 100 --inFlight 64
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createClient } from '@redis/client'
import { Redis as IoRedis } from 'ioredis'
import { Coalescer, returning } from '../src/engines/redis/link/coalescer.js'
import { openRedis } from '../src/engines/redis/link/open-redis.js'
import type { Redis } from '../src/engines/redis/link/redis.js'
import { assembleScript } from '../src/engines/redis/link/script.js'
import { type RedisProcess, startSingle } from '../test/support/redis/index.js'
import { numberArguments } from './support/arguments.js'
import { median, report } from './support/report.js'

const { values, positionals } = numberArguments({ rounds: 3, slices: 10, sliceMs: 100, inFlight: 64 })
const MEMBERS = 10_000
/** Enough for the code to be compiled. */
const WARM_UP_SLICES = 5

const KINDS = ['GET', 'SISMEMBER', 'EVALSHA'] as const
type Kind = (typeof KINDS)[number]
type Ask = (i: number) => Promise<unknown>
type Asks = Partial<Record<Kind, Ask>>

interface Rate {
  title: string
  perSecond: number
  p99Ms: number
}

const RAW_SCRIPT = "return redis.call('SISMEMBER', KEYS[1], ARGV[1])"
const isMember = assembleScript('is-member', { keys: 1, write: false }, () => {
  return "return function(keys, args) return redis.call('SISMEMBER', keys[1], args[1]) end"
})
const member = (i: number): string => `member-${i % (2 * MEMBERS)}`

const AS_IT_COMES = 'node-redis as it comes'
const RAW = 'node-redis without its timeout'
type Contenders = Record<string, (port: number) => Promise<Asks>>
const GROUPS: Contenders[] = [
  { [AS_IT_COMES]: (port) => nodeRedis(port, {}) },
  { ioredis: (port) => ioRedis(port, false) },
  { 'ioredis auto-pipelining': (port) => ioRedis(port, true) },
  { [RAW]: (port) => nodeRedis(port, { timeout: 0 }), catraca, 'catraca coalesced': catracaCoalesced },
]

const [group, port] = positionals
if (group === undefined) await spawnAll()
else await measure(GROUPS[Number(group)]!, Number(port))

async function spawnAll(): Promise<void> {
  const servers = await startSingle()
  try {
    const [server] = servers.servers
    await prepare(server!)
    const rounds: Rate[][] = []
    for (let round = 0; round < values.rounds; round++) {
      rounds.push(GROUPS.flatMap((_, i) => spawnOne(i, server!.port)))
    }
    tell(rounds)
  } finally {
    await servers.stop()
  }
}

function spawnOne(index: number, serverPort: number): Rate[] {
  const script = fileURLToPath(import.meta.url)
  const output = execFileSync(
    process.execPath,
    [script, ...process.argv.slice(2), String(index), String(serverPort)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  return JSON.parse(output.toString()) as Rate[]
}

async function prepare(server: RedisProcess): Promise<void> {
  for (let start = 0; start < MEMBERS; start += 1000) {
    await server.say('SADD', 'set', ...Array.from({ length: 1000 }, (_, i) => member(start + i)))
  }
  await server.say('SET', 'text', 'some text')
}

async function nodeRedis(port: number, commandOptions: { timeout?: number }): Promise<Asks> {
  const socket = { host: '127.0.0.1', port }
  const client = createClient({ RESP: 3, socket, commandOptions, maintNotifications: 'disabled' })
  await client.connect()
  const sha = await client.scriptLoad(RAW_SCRIPT)
  return {
    GET: () => client.sendCommand(['GET', 'text']),
    SISMEMBER: (i) => client.sendCommand(['SISMEMBER', 'set', member(i)]),
    EVALSHA: (i) => client.sendCommand(['EVALSHA', sha, '1', 'set', member(i)]),
  }
}

async function ioRedis(port: number, enableAutoPipelining: boolean): Promise<Asks> {
  const client = new IoRedis({ host: '127.0.0.1', port, enableAutoPipelining })
  const sha = String(await client.script('LOAD', RAW_SCRIPT))
  return {
    GET: () => client.get('text'),
    SISMEMBER: (i) => client.sismember('set', member(i)),
    EVALSHA: (i) => client.evalsha(sha, 1, 'set', member(i)),
  }
}

function open(port: number): Promise<Redis> {
  const nodes = [{ host: '127.0.0.1', port }]
  return openRedis({ engine: 'redis', topology: 'single', tls: false, nodes, database: 0 })
}

async function catraca(port: number): Promise<Asks> {
  const redis = await open(port)
  return {
    GET: () => redis.read('text', ['GET', 'text']),
    SISMEMBER: (i) => redis.read('set', ['SISMEMBER', 'set', member(i)]),
  }
}

async function catracaCoalesced(port: number): Promise<Asks> {
  const redis = await open(port)
  const members = new Coalescer<string, string, number>(
    returning(async (key, items) => (await redis.read(key, ['SMISMEMBER', key, ...items])) as number[]),
    { maxItems: 256 },
  )
  return {
    SISMEMBER: (i) => members.ask('set', member(i)),
    EVALSHA: (i) => redis.run(isMember, ['set'], [member(i)]),
  }
}

async function measure(contenders: Contenders, serverPort: number): Promise<void> {
  const entered = await Promise.all(
    Object.entries(contenders).map(async ([name, enter]) => ({ name, asks: await enter(serverPort) })),
  )
  const rates: Rate[] = []
  for (const kind of KINDS) {
    for (const inFlight of [1, values.inFlight]) {
      const asked = entered.flatMap(({ name, asks }) => {
        const ask = asks[kind]
        return ask === undefined
          ? []
          : [{ title: titleOf(kind, inFlight, name), ask, calls: 0, ms: 0, each: [] as number[] }]
      })
      for (let slice = -WARM_UP_SLICES; slice < values.slices; slice++) {
        for (const one of asked) {
          const { ms, each } = await load(one.ask, inFlight)
          if (slice < 0) continue
          one.calls += each.length
          one.ms += ms
          one.each = one.each.concat(each)
        }
      }
      for (const { title, calls, ms, each } of asked) {
        const p99Ms = Float64Array.from(each).sort()[Math.floor(calls * 0.99)]!
        rates.push({ title, perSecond: (1000 * calls) / ms, p99Ms })
      }
    }
  }
  // Everything that is open goes with the process.
  process.stdout.write(JSON.stringify(rates), () => process.exit())
}

function titleOf(kind: Kind, inFlight: number, name: string): string {
  return `${kind}/s, ${inFlight} in flight: ${name}`
}

async function load(ask: Ask, inFlight: number): Promise<{ ms: number; each: number[] }> {
  const each: number[] = []
  let next = 0
  const beginMs = performance.now()
  const endMs = beginMs + values.sliceMs
  const loops = Array.from({ length: inFlight }, async () => {
    for (let askedMs = performance.now(); askedMs < endMs; ) {
      await ask(next++)
      const answeredMs = performance.now()
      each.push(answeredMs - askedMs)
      askedMs = answeredMs
    }
  })
  await Promise.all(loops)
  return { ms: performance.now() - beginMs, each }
}

function tell(rounds: Rate[][]): void {
  const titles = rounds[0]!.map(({ title }) => title)
  const all = (title: string, of: 'perSecond' | 'p99Ms') =>
    rounds.map((rates) => rates.find((rate) => rate.title === title)![of])
  const ratio = (kind: Kind, inFlight: number, a: string, b: string) => {
    const [ofA, ofB] = [a, b].map((name) => all(titleOf(kind, inFlight, name), 'perSecond'))
    return median(ofA!.map((rate, i) => rate / ofB![i]!))
  }
  const many = values.inFlight
  report({
    name: 'redis-client',
    rounds: values.rounds,
    setting: { slicesPerRound: values.slices, sliceMs: values.sliceMs },
    figures: Object.fromEntries([
      ...titles.map((title) => [title, median(all(title, 'perSecond'))]),
      ...titles.map((title) => [`p99 ms of ${title.replace('/s', '')}`, median(all(title, 'p99Ms'))]),
    ]),
    ratios: {
      [`SISMEMBER, ${many}: ${RAW} / ${AS_IT_COMES}`]: ratio('SISMEMBER', many, RAW, AS_IT_COMES),
      [`SISMEMBER, ${many}: ${RAW} / ioredis`]: ratio('SISMEMBER', many, RAW, 'ioredis'),
      [`SISMEMBER, ${many}: catraca / ${RAW}`]: ratio('SISMEMBER', many, 'catraca', RAW),
      [`SISMEMBER, ${many}: coalesced / ${RAW}`]: ratio('SISMEMBER', many, 'catraca coalesced', RAW),
      [`SISMEMBER, 1: catraca / ${RAW}`]: ratio('SISMEMBER', 1, 'catraca', RAW),
      [`SISMEMBER, 1: coalesced / ${RAW}`]: ratio('SISMEMBER', 1, 'catraca coalesced', RAW),
      [`EVALSHA, ${many}: coalesced / ${RAW}`]: ratio('EVALSHA', many, 'catraca coalesced', RAW),
      [`EVALSHA, 1: coalesced / ${RAW}`]: ratio('EVALSHA', 1, 'catraca coalesced', RAW),
    },
  })
}
