import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, type TestContext } from 'node:test'
import { pino } from 'pino'
import type { Catraca, OpenOptions } from '../../src/app/open-catraca.js'
import type { Scope } from '../../src/guards/access/scopes.js'
import { type RunningServer, type ServerOptions, startServer } from '../../src/server/index.js'
import { openPatiently } from '../support/patient.js'
import { until } from '../support/until.js'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely and compare what they find.
  json: any
}

export interface Call {
  headers?: OutgoingHttpHeaders
  body?: unknown
  agent?: Agent
}

export interface TestServer extends RunningServer {
  catraca: Catraca
  /** Sends a path exactly as it is written; bodies that are not text or bytes go as JSON. */
  call(method: string, path: string, call?: Call): Promise<Answer>
}

const silent = pino({ level: 'silent' })

/** A server over its own empty store, gone when the test ends. */
export async function serve(
  t: TestContext,
  options: ServerOptions = {},
  open: OpenOptions = {},
): Promise<TestServer> {
  const server = await openServer(options, open)
  t.after(server.close)
  return server
}

/** One server for all tests of a file or `describe`, over one store: to start one takes longer than most tests. */
export function serveAll(fill: (server: TestServer) => unknown = () => {}): () => TestServer {
  let server: ClosingServer
  before(async () => {
    server = await openServer({}, {})
    await fill(server)
  })
  after(() => server.close())
  return () => server
}

export interface ClosingServer extends TestServer {
  close(): Promise<void>
}

/** A server over its own empty store, which `fill` may fill before the server reads it. */
export async function openServer(
  options: ServerOptions,
  open: OpenOptions,
  fill: (catraca: Catraca) => unknown = () => {},
): Promise<ClosingServer> {
  const catraca = await openPatiently({ store: 'memory:', ...open })
  const start = async () => {
    await fill(catraca)
    return startServer(catraca, { port: 0, logger: silent, keyRefreshMs: 20, ...options })
  }
  const server = await start().catch((error) => catraca.close().then(() => Promise.reject(error)))
  return {
    ...server,
    get keyed() {
      return server.keyed
    },
    catraca,
    call: (method: string, path: string, call?: Call) => send(server.url, method, path, call),
    async close() {
      await catraca.close()
      await server.stop()
    },
  }
}

export async function send(url: string, method: string, path: string, call: Call = {}): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const { body, agent } = call
  const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  const headers = { ...(raw ? {} : { 'content-type': 'application/json' }), ...call.headers }
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const outgoing = request({ host, port, method, path, headers, agent: agent ?? false }, (response) => {
      text(response).then((content) => {
        const { statusCode: status = 0, headers: answered } = response
        resolve({ status, headers: answered, text: content, json: parse(content) })
      }, reject)
    })
    outgoing.on('error', reject)
    outgoing.end(raw ? body : JSON.stringify(body))
  })
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

/** Makes a key, and waits until the server knows it. */
export async function knownKey({ call, catraca }: TestServer, name: string, scopes: Scope[]) {
  const made = await catraca.keys.create({ name, scopes })
  const headers = bearer(made.key)
  await until(
    'the key is known',
    async () => (await call('GET', '/session', { headers })).json?.name === name,
  )
  return made
}

/** One connection that stays open between calls. */
export function oneConnection(t: TestContext): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  return agent
}

export { until }

export const bearer = (key: string): OutgoingHttpHeaders => ({ authorization: `Bearer ${key}` })
