import { type CatracaApiError, type CatracaClient, createClient } from '../../client/index.js'
import { patientFetch } from '../../client/node.js'
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

interface ServerFacts {
  url: string
  key: string | undefined
  now: () => number
}

interface Answer {
  status: number
  date: string | null
  sentAt: number
  receivedAt: number
  body: Record<string, unknown>
}

/** Sends one request of the client. A refusal is an answer too. */
async function ask(
  { url, key, now }: ServerFacts,
  call: (client: CatracaClient) => Promise<unknown>,
  withKey = false,
): Promise<Answer> {
  const answer: Answer = { status: 0, date: null, sentAt: now(), receivedAt: 0, body: {} }
  const watched: typeof patientFetch = async (...request) => {
    const response = await patientFetch(...request)
    const { status, headers } = response
    Object.assign(answer, { status, date: headers.get('date'), receivedAt: now() })
    return response
  }
  const options = { url, timeoutMs: CALL_TIMEOUT_MS, fetch: watched }
  const body = await call(createClient(withKey ? { ...options, key } : options)).catch((error) => {
    if (answer.status === 0) throw error
    return (error as CatracaApiError).body
  })
  return typeof body === 'object' ? Object.assign(answer, { body }) : answer
}

const isYes = ({ status }: Answer): boolean => status >= 200 && status <= 299
const isRefused = ({ body }: Answer): boolean => body.code === 'UNAUTHENTICATED' || body.code === 'FORBIDDEN'

const liveCheck: Check<ServerFacts> = {
  id: 'server.live',
  expects: 'The server answers.',
  remedy: 'Start the server, or correct the address or the network.',
  async run(context) {
    try {
      const answer = await ask(context, (client) => client.live())
      return isYes(answer) ? ok('it answers') : problem(`/live answers ${answer.status}`)
    } catch (error) {
      const { code, cause } = error as CatracaApiError & { cause?: NodeJS.ErrnoException }
      return problem(
        code === 'TIMEOUT'
          ? `no answer within ${CALL_TIMEOUT_MS} ms`
          : `no answer: ${cause?.code ?? cause?.message ?? code}`,
      )
    }
  },
}

const readyCheck: Check<ServerFacts> = {
  id: 'server.ready',
  expects: 'The server is ready for requests.',
  remedy: 'Wait until its indexes are loaded; if that does not help, see its log.',
  async run(context) {
    const answer = await ask(context, (client) => client.ready())
    return isYes(answer) ? ok('ready') : problem(`not ready: ${String(answer.body.status ?? answer.status)}`)
  },
}

const healthCheck: Check<ServerFacts> = {
  id: 'server.health',
  expects: 'Every engine of the server answers, and none warns.',
  remedy: 'Look at `GET /health`, and run `catraca doctor --store …` where the server runs.',
  async run(context): Promise<CheckResult> {
    const answer = await ask(context, (client) => client.health(), true)
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

/** From the page that needs no key, which is no operation of the API. */
async function versionOf(url: string): Promise<string | undefined> {
  const signal = AbortSignal.timeout(CALL_TIMEOUT_MS)
  const response = await patientFetch(`${url.replace(/\/+$/, '')}/`, { signal })
  const { version } = (await response.json().catch(() => ({}))) as { version?: unknown }
  return typeof version === 'string' ? version : undefined
}

const versionCheck: Check<ServerFacts> = {
  id: 'server.version',
  expects: 'Server and command line have the same version.',
  remedy: 'Upgrade the older one.',
  async run(context) {
    const theirs = await versionOf(context.url)
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
    const list = (client: CatracaClient) => client.listAllowlists({ limit: 1 })
    const [without, withKey] = [await ask(context, list), await ask(context, list, true)]
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
    const { date, sentAt, receivedAt } = await ask(context, (client) => client.live())
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
      await ask(context, (client) => client.live())
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
