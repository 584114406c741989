import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { OpenOptions } from '../../../src/app/open-catraca.js'
import type { ServerOptions } from '../../../src/server/index.js'
import { PATIENCE_MS } from '../../support/patient.js'
import { serve, type TestServer } from '../support.js'

const resolve = createRequire(import.meta.url).resolve
const deps = join(dirname(resolve('@grpc/grpc-js-xds/package.json')), 'deps')

/** Envoy's own descriptions, which the library for its other protocols brings. */
export const ENVOY_FOLDERS = ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((name) =>
  join(deps, name),
)
const OWN_FOLDER = fileURLToPath(new URL('../../../src/server/grpc/protos', import.meta.url))
const HEALTH_FOLDER = join(dirname(resolve('grpc-health-check/package.json')), 'proto')

const FORM = { keepCase: true, enums: String, longs: Number, defaults: true, oneofs: true } as const
const RATE_LIMITS = 'envoy/service/ratelimit/v3/rls.proto'

export const theirs = loadSync(
  [RATE_LIMITS, 'envoy/service/auth/v3/external_auth.proto', 'health/v1/health.proto'],
  { includeDirs: [...ENVOY_FOLDERS, HEALTH_FOLDER], ...FORM },
)
/** With the fields that Envoy has had since. */
export const newer = loadSync(RATE_LIMITS, { includeDirs: [OWN_FOLDER], ...FORM })

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely and compare what they find.
export type Message = any

export interface CallOptions {
  metadata?: Record<string, string>
  deadlineMs?: number
}

export interface Caller {
  readonly client: grpc.Client
  call(request: Message, options?: CallOptions): Promise<Message>
}

const SERVICES = {
  limits: ['envoy.service.ratelimit.v3.RateLimitService', 'ShouldRateLimit'],
  auth: ['envoy.service.auth.v3.Authorization', 'Check'],
  health: ['grpc.health.v1.Health', 'Check'],
} as const

/** A client of one service, with Envoy's descriptions. */
export function caller(
  t: Pick<TestContext, 'after'>,
  port: number,
  service: keyof typeof SERVICES,
  credentials = grpc.credentials.createInsecure(),
  descriptions = theirs,
): Caller {
  const [name, method] = SERVICES[service]
  const Client = grpc.makeClientConstructor(descriptions[name] as grpc.ServiceDefinition, name)
  // A connection of its own for every client.
  const client = new Client(`127.0.0.1:${port}`, credentials, { 'grpc.use_local_subchannel_pool': 1 })
  t.after(() => client.close())
  return {
    client,
    call: (request, { metadata = {}, deadlineMs = PATIENCE_MS } = {}) =>
      new Promise((answer, reject) => {
        const given = new grpc.Metadata()
        for (const [key, value] of Object.entries(metadata)) given.set(key, value)
        const options = { deadline: Date.now() + deadlineMs }
        const done = (error: unknown, response: Message) => (error ? reject(error) : answer(response))
        ;(client[method] as (...args: unknown[]) => void).call(client, request, given, options, done)
      }),
  }
}

export async function serveGrpc(
  t: TestContext,
  options: ServerOptions = {},
  open: OpenOptions = {},
): Promise<TestServer> {
  return serve(t, { ...options, grpc: { port: 0, ...options.grpc } }, open)
}

/** A descriptor, written as its keys and values. */
export const descriptor = (entries: Record<string, string>, limit?: Message) => ({
  entries: Object.entries(entries).map(([key, value]) => ({ key, value })),
  ...(limit && { limit }),
})

/** A request of one domain. */
export const ask = (...descriptors: Message[]) => ({ domain: 'edge', descriptors })

/** The code of the status with which a call fails, and the code of the product. */
export async function failure(call: Promise<unknown>): Promise<{ code: string; catraca: unknown }> {
  const error = await call.then(
    () => {
      throw new Error('the call did not fail')
    },
    (each: grpc.ServiceError) => each,
  )
  return { code: grpc.status[error.code]!, catraca: error.metadata?.get('catraca-code')[0] }
}
