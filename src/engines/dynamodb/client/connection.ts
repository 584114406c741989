import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { isOfConnection, mayHaveBeenApplied, type SdkFailure } from './failures.js'
import type { ServerClock } from './server-clock.js'

export interface ConnectionOptions {
  region: string
  endpoint?: string
  /** As the SDK finds them when absent: environment, files, role of the container or machine. */
  credentials?: DynamoDBClientConfig['credentials']
  /** To be connected. */
  connectTimeoutMs: number
  /** For one attempt to be answered. */
  requestTimeoutMs: number
  /** Attempts that the SDK makes by itself. */
  maxAttempts: number
  maxSockets: number
  /** Told what every answer says of the time. */
  serverClock?: ServerClock
  /** Told of every attempt that failed on the way. */
  onConnectionFailure?: () => void
}

/** What became of the attempts of one write. */
export interface WriteTrace {
  /** Whether a second attempt may follow one of unknown end. */
  repeatable: boolean
  /** An attempt was sent, and nobody can tell whether it was carried out. */
  mayBeApplied: boolean
}

/** A failure that is not to be tried again. It hides its cause from the SDK, which looks into causes. */
export class NotRepeated extends Error {
  constructor(readonly failure: unknown) {
    super('a write with an unknown outcome is not retried')
  }
}

const traces = new WeakMap<object, WriteTrace>()

/** The attempts of the command with this input are written down in `trace`. */
export function traceWrite(input: object, trace: WriteTrace): void {
  traces.set(input, trace)
}

export function connect(options: ConnectionOptions, retryMode: 'standard' | 'adaptive'): DynamoDBClient {
  const agent = { keepAlive: true, maxSockets: options.maxSockets }
  const client = new DynamoDBClient({
    region: options.region,
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    ...(options.credentials !== undefined && { credentials: options.credentials }),
    retryMode,
    maxAttempts: options.maxAttempts,
    requestHandler: {
      connectionTimeout: options.connectTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  })
  // Behind the retries, so that it sees every attempt: the SDK tells of the last one only.
  client.middlewareStack.add(
    (next) => async (args) => {
      const trace = traces.get(args.input)
      if (trace === undefined) return next(args)
      const wasApplied = trace.mayBeApplied
      trace.mayBeApplied = true
      try {
        const answer = await next(args)
        trace.mayBeApplied = wasApplied
        return answer
      } catch (error) {
        const isUnknown = mayHaveBeenApplied(error as SdkFailure)
        trace.mayBeApplied = wasApplied || isUnknown
        throw isUnknown && !trace.repeatable ? new NotRepeated(error) : error
      }
    },
    { step: 'finalizeRequest', priority: 'low', name: 'catracaWriteTrace' },
  )
  if (options.serverClock !== undefined) tellTime(client, options.serverClock)
  if (options.onConnectionFailure !== undefined) tellFailures(client, options.onConnectionFailure)
  return client
}

/** Next to the wire too: the SDK tells of the last attempt only. */
function tellFailures(client: DynamoDBClient, onFailure: () => void): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        if (isOfConnection(error as SdkFailure)) onFailure()
        throw error
      }
    },
    { step: 'deserialize', priority: 'low', name: 'catracaConnectionFailures' },
  )
}

/** Next to the wire, so that refusals tell the time too, and waiting for another attempt does not count. */
function tellTime(client: DynamoDBClient, clock: ServerClock): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const sentAt = clock.now()
      const answer = await next(args)
      const { headers } = answer.response as { headers?: Record<string, string> }
      clock.note(headers?.date, sentAt, clock.now())
      return answer
    },
    { step: 'deserialize', priority: 'low', name: 'catracaServerClock' },
  )
}
