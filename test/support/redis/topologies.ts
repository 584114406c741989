import type { RedisUrl } from '../../../src/engines/redis/url.js'
import { RedisProcess, type ServerOptions, until } from './process.js'

/** Servers of one topology, used by all cases of a test file. */
export interface RedisServers {
  url: RedisUrl
  /** As in CATRACA_STORE. */
  storeUrl: string
  /** All data servers, in the order they were started; Sentinels are not among them. */
  servers: RedisProcess[]
  sentinels: RedisProcess[]
  /** Those that take writes now. */
  primaries(): Promise<RedisProcess[]>
  /** From now on no server takes the place of another because it was silent, as all are when the machine is busy. */
  calm(): Promise<void>
  /** Empties all primaries: what stands between two cases. */
  flush(): Promise<void>
  stop(): Promise<void>
}

export async function startSingle(options: ServerOptions = {}): Promise<RedisServers> {
  const server = await RedisProcess.start(options)
  const { password, tls } = options
  const nodes = [{ host: '127.0.0.1', port: server.port }]
  const url: RedisUrl = {
    ...{ engine: 'redis', topology: 'single', tls: tls !== undefined, nodes, database: 0 },
    ...(password === undefined ? {} : { password }),
  }
  const credentials = password === undefined ? '' : `:${encodeURIComponent(password)}@`
  const storeUrl = `${tls === undefined ? 'redis' : 'rediss'}://${credentials}${server.address}/0`
  return together({ url, storeUrl, servers: [server], sentinels: [], primaries: async () => [server] })
}

/** Three servers, one of them master, and three Sentinels that fail over after half a second of silence. */
export async function startSentinel(options: ServerOptions = {}): Promise<RedisServers> {
  const master = await RedisProcess.start(options)
  const replicaOf = ['replicaof', '127.0.0.1', String(master.port)]
  const replica: ServerOptions = { ...options, settings: [...(options.settings ?? []), replicaOf] }
  const servers = [master, ...(await Promise.all([RedisProcess.start(replica), RedisProcess.start(replica)]))]
  await until('both replicas are in step', async () => (await replicasOf(master)) === 2)
  const sentinels = await Promise.all([1, 2, 3].map(() => startOneSentinel(master, options.password)))
  for (const sentinel of sentinels) await until('the Sentinels know each other', () => knowsAll(sentinel))
  const nodes = sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
  const { password } = options
  const url: RedisUrl = {
    ...{ engine: 'redis', topology: 'sentinel', tls: false, nodes, master: 'mymaster', database: 0 },
    ...(password === undefined ? {} : { password }),
  }
  const credentials = password === undefined ? '' : `:${encodeURIComponent(password)}@`
  const storeUrl = `redis+sentinel://${credentials}${sentinels.map(({ address }) => address).join(',')}/mymaster`
  const primaries = async () => {
    const named = (await firstAnswer(sentinels, [
      'SENTINEL',
      'GET-MASTER-ADDR-BY-NAME',
      'mymaster',
    ])) as string[]
    return servers.filter(({ port }) => port === Number(named[1]))
  }
  return together({ url, storeUrl, servers, sentinels, primaries })
}

async function startOneSentinel(master: RedisProcess, password: string | undefined): Promise<RedisProcess> {
  const monitored = 'mymaster'
  const settings = [
    ['sentinel', 'monitor', monitored, '127.0.0.1', String(master.port), '2'],
    ['sentinel', 'down-after-milliseconds', monitored, '500'],
    ['sentinel', 'failover-timeout', monitored, '3000'],
    ['sentinel', 'parallel-syncs', monitored, '2'],
    ...(password === undefined ? [] : [['sentinel', 'auth-pass', monitored, password]]),
  ]
  return RedisProcess.start({ sentinel: true, settings })
}

/** They find each other, and the replicas, through the master. */
async function knowsAll(sentinel: RedisProcess): Promise<boolean> {
  const facts = new Map(Object.entries((await sentinel.say('SENTINEL', 'MASTER', 'mymaster')) as object))
  return facts.get('num-other-sentinels') === '2' && facts.get('num-slaves') === '2'
}

/** Three primaries with a replica each, which fail over after a second of silence. */
export async function startCluster(options: ServerOptions = {}): Promise<RedisServers> {
  const settings = [
    ...(options.settings ?? []),
    ['cluster-enabled', 'yes'],
    ['cluster-node-timeout', '1000'],
    ['cluster-replica-validity-factor', '0'],
  ]
  const start = () => RedisProcess.start({ ...options, settings })
  const servers: RedisProcess[] = []
  // One by one: two that start at once may choose the same free port.
  for (let i = 0; i < 6; i++) servers.push(await start())
  await formCluster(servers)
  const nodes = servers.map(({ port }) => ({ host: '127.0.0.1', port }))
  const { password } = options
  const url: RedisUrl = {
    ...{ engine: 'redis', topology: 'cluster', tls: false, nodes, database: 0 },
    ...(password === undefined ? {} : { password }),
  }
  const credentials = password === undefined ? '' : `:${encodeURIComponent(password)}@`
  const storeUrl = `redis+cluster://${credentials}${servers.map(({ address }) => address).join(',')}`
  const primaries = async () => {
    const ranges = (await firstAnswer(servers, ['CLUSTER', 'SLOTS'])) as [number, number, [string, number]][]
    const ports = new Set(ranges.map(([, , [, port]]) => port))
    return servers.filter(({ port, alive }) => alive && ports.has(port))
  }
  return together({ url, storeUrl, servers, sentinels: [], primaries })
}

async function formCluster(servers: readonly RedisProcess[]): Promise<void> {
  const bounds = [0, 5461, 10_923, 16_384]
  for (const [i, server] of servers.entries()) await server.say('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1))
  for (const [i, server] of servers.slice(0, 3).entries()) {
    await server.say('CLUSTER', 'ADDSLOTSRANGE', String(bounds[i]), String(bounds[i + 1]! - 1))
  }
  // Each is told of all: gossip alone takes seconds.
  for (const server of servers) {
    for (const { port } of servers) await server.say('CLUSTER', 'MEET', '127.0.0.1', String(port))
  }
  for (const [i, server] of servers.entries()) {
    if (i < 3) continue
    const id = String(await servers[i - 3]!.say('CLUSTER', 'MYID'))
    await until('the replica knows its primary', async () => {
      return (await server.say('CLUSTER', 'REPLICATE', id)) === 'OK'
    })
  }
  for (const [i, server] of servers.entries()) {
    await until('the cluster is whole', async () => {
      const state = String(await server.say('CLUSTER', 'INFO'))
      const shards = (await server.say('CLUSTER', 'SLOTS')) as unknown[][]
      const whole = shards.length === 3 && shards.every((shard) => shard.length === 4)
      return state.includes('cluster_state:ok') && whole && (i >= 3 || (await replicasOf(server)) === 1)
    })
  }
}

const CALM_MS = '600000'

async function replicasOf(server: RedisProcess): Promise<number> {
  const text = String(await server.say('INFO', 'replication'))
  return [...text.matchAll(/state=online/g)].length
}

async function firstAnswer(servers: readonly RedisProcess[], question: string[]): Promise<unknown> {
  for (const server of servers) {
    if (!server.alive) continue
    const answer = await server.say(...question).catch(() => undefined)
    if (answer !== undefined) return answer
  }
  throw new Error('no server answers')
}

function together(parts: Omit<RedisServers, 'calm' | 'flush' | 'stop'>): RedisServers {
  return {
    ...parts,
    async calm() {
      const { url, sentinels, servers } = parts
      for (const each of sentinels)
        await each.say('SENTINEL', 'SET', 'mymaster', 'down-after-milliseconds', CALM_MS)
      if (url.topology !== 'cluster') return
      for (const each of servers) await each.say('CONFIG', 'SET', 'cluster-node-timeout', CALM_MS)
    },
    async flush() {
      for (const primary of await parts.primaries()) await primary.say('FLUSHALL')
    },
    async stop() {
      await Promise.all([...parts.sentinels, ...parts.servers].map((server) => server.stop()))
    },
  }
}
