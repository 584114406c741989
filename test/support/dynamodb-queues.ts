import { buildApp } from 'fauxqs'
import { atEnd } from './at-end.js'
import { CREDENTIALS, REGION } from './dynamodb-server.js'

interface QueueServer {
  /** What clients of SNS and SQS take. */
  readonly clientOptions: { region: string; endpoint: string; credentials: typeof CREDENTIALS }
  readonly endpoint: string
  stop(): Promise<void>
}

/** Topics and queues on a free loopback port; they end with the tests of this file. */
export async function startQueues(): Promise<QueueServer> {
  const app = buildApp({ logger: false, host: '127.0.0.1' })
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= Promise.resolve(app.close()))
  atEnd(stop)
  return { endpoint, stop, clientOptions: { region: REGION, endpoint, credentials: CREDENTIALS } }
}
