/**
 * A real Prometheus scrapes `catraca serve` on a real Redis, with the rules of `deploy/prometheus` and the example of a
 * configuration beside them: the target is up, every rule is loaded and can be evaluated, nothing fires in quiet times.
 * Then alerts are made to fire and to resolve: Redis is stopped, Redis evicts, the server is stopped. Every `for` and
 * every range is shorter by `speedUp`; thresholds are those of the rules.
 * Arguments: --speedUp 20 --scrapeSeconds 2 --calmSeconds 30 --checksPerSecond 50 --patienceSeconds 90
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { readRules } from '../../test/support/alert-rules.js'
import { type RedisServers, startSingle, until } from '../../test/support/redis/index.js'
import { Prometheus } from '../support/prometheus.js'
import { demand, type Figures, inTemporaryDirectory, whenStarted } from '../support/proof.js'
import { runCommand, type Served, startServe } from '../support/served.js'

const SIZES = { speedUp: 20, scrapeSeconds: 2, calmSeconds: 30, checksPerSecond: 50, patienceSeconds: 90 }
type Sizes = typeof SIZES

interface Scene {
  sizes: Sizes
  redis: RedisServers
  server: Served
  prometheus: Prometheus
}

export async function run(given: Partial<Sizes>): Promise<Figures> {
  const sizes = { ...SIZES, ...given }
  const redis = await startSingle({ settings: [['maxmemory', '0']] })
  try {
    const { key, entry } = await makeKey()
    const server = await startServe(redis.storeUrl, { env: { CATRACA_KEYS: JSON.stringify([entry]) } })
    try {
      return await inTemporaryDirectory(async (directory) => {
        const target = new URL(server.url).host
        const prometheus = await Prometheus.start(directory, { target, key, ...sizes })
        try {
          return await withTraffic(server, key, sizes, () => prove({ sizes, redis, server, prometheus }))
        } finally {
          await prometheus.stop()
        }
      })
    } finally {
      await server.stop()
    }
  } finally {
    await redis.stop()
  }
}

/** Kept in the configuration, as the example of a configuration says: one in the store is not known while that is down. */
async function makeKey(): Promise<{ key: string; entry: unknown }> {
  const command = ['key', 'generate', 'prometheus', '--scopes', 'read,check,admin', '--json']
  return JSON.parse(await runCommand(command))
}

async function prove(scene: Scene): Promise<Figures> {
  const loaded = await load(scene)
  const calm = await stayCalm(scene)
  const { redis, server } = scene
  const [single] = redis.servers
  const engine = await strike(scene, 'CatracaEngineDown', {
    begin: async () => single!.pause(),
    end: async () => single!.resume(),
  })
  const evictions = await strike(scene, 'CatracaRedisEvictions', evicting(scene))
  const target = await strike(scene, 'CatracaTargetDown', {
    begin: async () => void process.kill(server.pid, 'SIGSTOP'),
    end: async () => void process.kill(server.pid, 'SIGCONT'),
  })
  return { ...loaded, ...calm, ...engine, ...evictions, ...target }
}

async function load({ prometheus, sizes }: Scene): Promise<Figures> {
  const patienceMs = 1000 * sizes.patienceSeconds
  const countUp = async () => (await prometheus.targets()).filter(({ health }) => health === 'up').length
  await until('the target is up', async () => (await countUp()) === 1, patienceMs)
  const areRead = async () => (await prometheus.rules()).every(({ health }) => health !== 'unknown')
  await until('all rules were evaluated', areRead, patienceMs)
  const rules = await prometheus.rules()
  const { records, alerts } = readRules()
  demand(rules.length === records.length + alerts.length, `${rules.length} rules were loaded`)
  for (const { name, health, lastError } of rules) demand(health === 'ok', `${name}: ${lastError}`)
  return {
    'targets up': await countUp(),
    'recording rules': rules.filter(({ type }) => type === 'recording').length,
    'alerting rules': rules.filter(({ type }) => type === 'alerting').length,
  }
}

async function stayCalm({ prometheus, sizes }: Scene): Promise<Figures> {
  await sleep(1000 * sizes.calmSeconds)
  const firing = await firingIn(prometheus)
  demand(firing.length === 0, `in quiet times: ${firing.join(', ')}`)
  const [scrapeSeconds] = await prometheus.query('max_over_time(scrape_duration_seconds[1m])')
  const [samples] = await prometheus.query('scrape_samples_scraped')
  const [checks] = await prometheus.query('catraca:checks:rate5m')
  demand(checks !== undefined && checks > 0, 'Prometheus sees no checks')
  return {
    'quiet: alerts firing': firing.length,
    'quiet: checks per second as seen': checks,
    'quiet: series of a scrape': samples!,
    'quiet: longest scrape ms': scrapeSeconds! * 1000,
  }
}

interface Harm {
  begin(): Promise<void>
  end(): Promise<void>
}

async function strike({ prometheus, sizes }: Scene, alert: string, harm: Harm): Promise<Figures> {
  const patienceMs = 1000 * sizes.patienceSeconds
  const isFiring = async () => (await firingIn(prometheus)).includes(alert)
  const struckMs = performance.now()
  await harm.begin()
  let firedMs: number
  try {
    await until(`${alert} fires`, isFiring, patienceMs)
    firedMs = performance.now()
  } finally {
    await harm.end()
  }
  const others = (await firingIn(prometheus)).filter((name) => name !== alert)
  const endedMs = performance.now()
  await until(`${alert} is resolved`, async () => !(await isFiring()), patienceMs)
  const resolvedMs = performance.now()
  await until('all is quiet', async () => (await firingIn(prometheus)).length === 0, patienceMs)
  console.log(`${alert} fired and was resolved; beside it: ${others.join(', ') || 'none'}`)
  return {
    [`${alert}: fired after ms`]: firedMs - struckMs,
    [`${alert}: resolved after ms`]: resolvedMs - endedMs,
    [`${alert}: others beside it`]: others.length,
  }
}

async function firingIn(prometheus: Prometheus): Promise<string[]> {
  const firing = (await prometheus.alerts()).filter(({ state }) => state === 'firing')
  return [...new Set(firing.map(({ labels }) => labels.alertname!))].sort()
}

/** A cache that shares the server has grown too large for it. */
function evicting({ redis }: Scene): Harm {
  const [server] = redis.servers
  let isOver = false
  let writing = Promise.resolve()
  const write = async (): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const script =
        "for i = 1, 100 do redis.call('SET', 'junk:' .. ARGV[1] .. ':' .. i, string.rep('x', 4096), 'EX', 60) end"
      await server!.say('EVAL', script, '0', String(i))
      await sleep(250)
    }
  }
  return {
    async begin() {
      await server!.say('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru')
      await server!.say('CONFIG', 'SET', 'maxmemory', '8mb')
      writing = write()
    },
    async end() {
      isOver = true
      await writing
      await server!.say('CONFIG', 'SET', 'maxmemory', '0')
    },
  }
}

/** Checks at an even pace while the work is done; what they are answered is not the point here. */
async function withTraffic<T>(
  { url }: Served,
  key: string,
  { checksPerSecond }: Sizes,
  work: () => Promise<T>,
): Promise<T> {
  const headers = { authorization: `Bearer ${key}` }
  const body = JSON.stringify({ id: 'vip', name: 'VIP', type: 'FIXA' })
  const asJson = { ...headers, 'content-type': 'application/json' }
  const created = await fetch(`${url}/allowlists`, { method: 'POST', headers: asJson, body })
  demand(created.status === 201, `the list was answered ${created.status}`)
  let asked = 0
  const timer = setInterval(() => {
    const signal = AbortSignal.timeout(5000)
    const path = `/customers/customer-${asked++ % 1000}/check?allowlists=vip`
    fetch(url + path, { headers, signal })
      .then(
        (answer) => answer.text(),
        () => {},
      )
      .catch(() => {})
  }, 1000 / checksPerSecond)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

await whenStarted(import.meta.url, 'alerts', SIZES, run)
