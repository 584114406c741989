import {
  type Check,
  type CheckResult,
  clockResult,
  isLoopbackAddress,
  latencyResult,
  ok,
  problem,
  skipped,
  warning,
} from '../../core/diagnosis.js'
import { version } from '../../core/version.js'

const CALL_TIMEOUT_MS = 3000
const CALLS = 20

export interface ServerFacts {
  url: string
  key: string | undefined
  now: () => number
}

interface Answer {
  isOk: boolean
  status: number
  date: string | null
  sentAt: number
  receivedAt: number
  body: Record<string, unknown>
}

async function ask({ url, key, now }: ServerFacts, path: string, withKey = false): Promise<Answer> {
  const sentAt = now()
  const response = await fetch(url.replace(/\/+$/, '') + path, {
    headers: withKey && key !== undefined ? { authorization: `Bearer ${key}` } : {},
    redirect: 'manual',
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  })
  const receivedAt = now()
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  return {
    isOk: response.ok,
    status: response.status,
    date: response.headers.get('date'),
    sentAt,
    receivedAt,
    body,
  }
}

const isYes = ({ isOk }: Answer): boolean => isOk
const isRefused = ({ body }: Answer): boolean => body.code === 'UNAUTHENTICATED' || body.code === 'FORBIDDEN'

const liveCheck: Check<ServerFacts> = {
  id: 'server.live',
  expects: 'The server answers.',
  remedy: 'Start the server, or correct the address or the network.',
  async run(context) {
    try {
      const answer = await ask(context, '/live')
      return isYes(answer) ? ok('it answers') : problem(`/live answers ${answer.status}`)
    } catch (error) {
      const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
      return problem(
        name === 'TimeoutError'
          ? `no answer within ${CALL_TIMEOUT_MS} ms`
          : `no answer: ${cause?.code ?? cause?.message ?? name}`,
      )
    }
  },
}

const readyCheck: Check<ServerFacts> = {
  id: 'server.ready',
  expects: 'The server is ready for requests.',
  remedy: 'Wait until its indexes are loaded; if that does not help, see its log.',
  async run(context) {
    const answer = await ask(context, '/ready')
    return isYes(answer) ? ok('ready') : problem(`not ready: ${String(answer.body.status ?? answer.status)}`)
  },
}

const healthCheck: Check<ServerFacts> = {
  id: 'server.health',
  expects: 'Every engine of the server answers, and none warns.',
  remedy: 'Look at `GET /health`, and run `catraca doctor --store …` where the server runs.',
  async run(context): Promise<CheckResult> {
    const answer = await ask(context, '/health', true)
    if (isRefused(answer)) return skipped('it requires a key with the scope read: set CATRACA_KEY')
    const engines = Array.isArray(answer.body.engines)
      ? (answer.body.engines as Record<string, unknown>[])
      : []
    const sick = engines.filter(({ status }) => status !== 'healthy').map(({ name }) => String(name))
    if (!isYes(answer)) return problem(`unhealthy: ${sick.join(', ') || answer.status}`)
    const warnings = engines.flatMap((engine) => (Array.isArray(engine.warnings) ? engine.warnings : []))
    if (warnings.length > 0) return warning(String(warnings[0]))
    return ok(`healthy: ${engines.map(({ name }) => String(name)).join(', ')}`)
  },
}

const versionCheck: Check<ServerFacts> = {
  id: 'server.version',
  expects: 'Server and command line have the same version.',
  remedy: 'Upgrade the older one.',
  async run(context) {
    const { body } = await ask(context, '/')
    const theirs = typeof body.version === 'string' ? body.version : undefined
    if (theirs === undefined)
      return problem('it does not report a version', 'Is it Catraca? Correct the address.')
    return theirs === version ? ok(theirs) : warning(`the server is ${theirs}, this is ${version}`)
  },
}

const keyCheck: Check<ServerFacts> = {
  id: 'server.keys',
  expects: 'A server that other machines can reach requires API keys, and accepts the key of this command.',
  remedy: 'Make a key (`catraca key create`) and give it to the commands as CATRACA_KEY.',
  async run(context): Promise<CheckResult> {
    const path = '/allowlists?limit=1'
    const [without, withKey] = [await ask(context, path), await ask(context, path, true)]
    const { hostname } = new URL(context.url)
    if (!isRefused(without)) {
      return isLoopbackAddress(hostname)
        ? ok('no key is required, on this machine')
        : problem('no key is required: any client that reaches it can change everything')
    }
    if (context.key === undefined) return ok('a key is required')
    return isRefused(withKey)
      ? problem('the key of this command is refused')
      : ok('a key is required, and the key of this command is accepted')
  },
}

const tlsCheck: Check<ServerFacts> = {
  id: 'server.tls',
  expects: 'A server on another machine is called over https.',
  remedy: 'Use https: without it, others on the network can read keys and customers.',
  run({ url }) {
    const { protocol, hostname } = new URL(url)
    if (protocol === 'https:') return ok('https')
    return isLoopbackAddress(hostname) ? ok('http, on this machine') : warning('http to another machine')
  },
}

const clockCheck: Check<ServerFacts> = {
  id: 'server.clock',
  expects: 'The clocks of the server and of this machine differ by less than a second.',
  remedy: 'Synchronize both with a time server (NTP).',
  async run(context) {
    const { date, sentAt, receivedAt } = await ask(context, '/live')
    const at = Date.parse(date ?? '')
    if (Number.isNaN(at)) return skipped('it does not report the time')
    // The `Date` header has whole seconds.
    return clockResult(at + 500 - (sentAt + receivedAt) / 2, 500 + (receivedAt - sentAt) / 2)
  },
}

const latencyCheck: Check<ServerFacts> = {
  id: 'server.latency',
  expects: 'The server answers in less than 10 ms.',
  remedy: 'Look for a busy event loop, a slow store or a distant network (docs/runbooks).',
  async run(context) {
    const tookMs: number[] = []
    // The first call opens the connection.
    for (let i = 0; i <= CALLS; i++) {
      const begunMs = performance.now()
      await ask(context, '/live')
      if (i > 0) tookMs.push(performance.now() - begunMs)
    }
    return latencyResult('GET /live', tookMs)
  },
}

export const REACH_CHECK = liveCheck
export const SERVER_CHECKS: readonly Check<ServerFacts>[] = [
  readyCheck,
  healthCheck,
  versionCheck,
  keyCheck,
  tlsCheck,
  clockCheck,
  latencyCheck,
]
