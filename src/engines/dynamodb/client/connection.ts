import { isOfConnection, mayHaveBeenApplied, type SdkFailure } from './failures.js'
import type { ConnectionOptions } from './options.js'
import { DynamoDBClient } from './sdk.js'
import type { ServerClock } from './server-clock.js'

/** The outcome of the attempts of one write. */
export interface WriteTrace {
  /** Whether another attempt may follow one with an unknown outcome. */
  repeatable: boolean
  /** An attempt was sent, and it is unknown whether it was executed. */
  mayBeApplied: boolean
}

/** A failure that must not be retried. It hides its cause from the SDK, which inspects causes. */
export class NotRepeated extends Error {
  constructor(readonly failure: unknown) {
    super('a write with an unknown outcome is not retried')
  }
}

const traces = new WeakMap<object, WriteTrace>()

/** Records the attempts of the command with this input in `trace`. */
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
  // The logger middleware copies every request and answer for a log that nobody reads.
  client.middlewareStack.remove('loggerMiddleware')
  // After the retry middleware, so that it sees every attempt: the SDK reports only the last one.
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

/** Also after the retry middleware: the SDK reports only the last attempt. */
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

/** Directly around the request, so that refusals report the time too, and pauses between attempts do not count. */
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
