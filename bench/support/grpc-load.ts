import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Client, credentials, makeClientConstructor, type ServiceDefinition } from '@grpc/grpc-js'
import { loadGrpc } from '../../src/server/grpc/packages.js'

const NAME = 'envoy.service.ratelimit.v3.RateLimitService'
const SIDE = fileURLToPath(new URL('./grpc-side.js', import.meta.url))

export interface GrpcSide {
  /** A decision for one of many customers; whether it is OK. */
  decide(customer: number): Promise<boolean>
  /** Processor time since `begin`, and the memory of the process. */
  begin(): Promise<unknown>
  used(): Promise<{ cpuMicros: number; rssBytes: number }>
  stop(): void
}

/** A server of `grpc-side.ts`, and a client with some connections. */
export async function startSide(
  side: 'echo' | 'catraca' | 'ahead',
  store: string,
  connections = 4,
): Promise<GrpcSide> {
  const child: ChildProcess = fork(SIDE, [side, store])
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const Decider = makeClientConstructor(loadGrpc().services[NAME] as ServiceDefinition, NAME)
  const clients: Client[] = Array.from(
    { length: connections },
    () =>
      new Decider(`127.0.0.1:${port}`, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 }),
  )
  const asked = async (what: string) => {
    child.send(what)
    return (await once(child, 'message'))[0] as { cpuMicros: number; rssBytes: number }
  }
  return {
    decide: (customer) => decide(clients[customer % connections]!, customer),
    begin: () => asked('begin'),
    used: () => asked('used'),
    stop() {
      for (const client of clients) client.close()
      child.disconnect()
    },
  }
}

type Done = (error: unknown, answer: { overallCode: number }) => void

function decide(client: Client, customer: number): Promise<boolean> {
  const entries = [{ key: 'customer', value: `c-${customer}` }]
  const request = { domain: 'edge', descriptors: [{ entries }] }
  return new Promise((resolve, reject) => {
    const done: Done = (error, answer) => (error ? reject(error) : resolve(answer.overallCode === 1))
    ;(client as unknown as { ShouldRateLimit(r: object, done: Done): void }).ShouldRateLimit(request, done)
  })
}
