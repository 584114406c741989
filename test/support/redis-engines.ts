import { after, afterEach, before, beforeEach } from 'node:test'
import { openRedis, type RedisEngine } from '../../src/engines/redis/index.js'
import type { RedisEngineOptions } from '../../src/engines/redis/options.js'
import { PATIENT_REDIS } from './patient.js'
import { type RedisProcess, startSingle } from './redis/index.js'

interface Fixture {
  open(options?: RedisEngineOptions): Promise<RedisEngine>
  /** A command to the server, past the engine. */
  raw(...args: string[]): Promise<unknown>
  /** How often the server has executed a command. */
  callsOf(command: string): Promise<number>
  server(): RedisProcess
  url(): Parameters<typeof openRedis>[0]
  flush(): Promise<void>
}

/** One server for a test file, emptied before each test; engines are closed behind each. */
export function oneServer(): Fixture {
  let servers: Awaited<ReturnType<typeof startSingle>>
  const opened: RedisEngine[] = []
  before(async () => {
    servers = await startSingle()
  })
  beforeEach(() => servers.flush())
  afterEach(async () => {
    for (const engine of opened.splice(0)) await engine.close()
  })
  after(() => servers.stop())
  const server = () => servers.servers[0]!
  const raw = (...args: string[]) => server().say(...args)
  return {
    raw,
    server,
    url: () => servers.url,
    flush: () => servers.flush(),
    async open(options = {}) {
      const engine = await openRedis(servers.url, { ...PATIENT_REDIS, ...options })
      opened.push(engine)
      return engine
    },
    async callsOf(command) {
      const text = String(await raw('INFO', 'commandstats'))
      return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(text)?.[1] ?? 0)
    },
  }
}
