import type { Metadata, ServerInterceptingCallInterface, ServerInterceptor } from '@grpc/grpc-js'
import { monotonicMs } from '../../core/deadlines.js'
import { SharedTimer, Waiter } from '../../core/shared-timer.js'
import type { GrpcJs } from './packages.js'
import { GRPC } from './status.js'

interface CallLimits {
  /** For the message of the client to come, and again for the client to take the answer. */
  timeoutMs: number
  maxCalls: number
}

/**
 * Calls from their first byte until their streams have ended: limited in number, and in the time that the client may
 * take. The library limits neither.
 */
export class OpenStreams {
  private readonly timer = new SharedTimer(monotonicMs)
  private count = 0

  /** `refused` tells how a call above the limit is answered. */
  constructor(
    private readonly limits: CallLimits,
    private readonly refused: (path: string, why: string) => Status,
  ) {}

  readonly interceptor: ServerInterceptor = (method, call) => {
    const { maxCalls } = this.limits
    // A client may have reset the stream before we learn of it. Nobody would tell us of its end.
    if (isClosed(call)) return call as Intercepted
    // Not of the library's class, whose wrappers cost several closures for each call.
    if (this.count < maxCalls)
      return new OpenStream(call, this, method.responseStream) as unknown as Intercepted
    call.sendStatus(this.refused(method.path, `${maxCalls} calls are open (grpc.maxCalls)`))
    closeStream(call)
    return call as Intercepted
  }

  began(stream: OpenStream): void {
    this.count++
    this.waits(stream)
  }

  /** The client has the turn. */
  waits(stream: OpenStream): void {
    this.timer.schedule(stream, monotonicMs() + this.limits.timeoutMs)
  }

  /** We have the turn. */
  works(stream: OpenStream): void {
    this.timer.cancel(stream)
  }

  ended(stream: OpenStream): void {
    this.timer.cancel(stream)
    this.count--
  }
}

type Intercepted = InstanceType<typeof GrpcJs.ServerInterceptingCall>
type Call = ServerInterceptingCallInterface
type Listener = Parameters<Call['start']>[0]
type Status = Parameters<Call['sendStatus']>[0]

/** Stands between the library's call and its listener, and tells `OpenStreams` whose turn it is. */
class OpenStream extends Waiter implements Call, Listener {
  private listener: Listener | undefined
  private hasMessage = false
  private hasEnded = false

  constructor(
    private readonly call: Call,
    private readonly calls: OpenStreams,
    private readonly isLasting: boolean,
  ) {
    super()
    calls.began(this)
  }

  override onDue(): void {
    if (!this.hasMessage) {
      this.call.sendStatus({ code: GRPC.DEADLINE_EXCEEDED, details: 'the message did not come in time' })
    }
    closeStream(this.call)
    this.end()
  }

  start(listener: Listener): void {
    this.listener = listener
    this.call.start(this)
  }

  onReceiveMetadata(metadata: Metadata): void {
    this.listener!.onReceiveMetadata(metadata)
  }

  // biome-ignore lint/suspicious/noExplicitAny: the messages do not matter here.
  onReceiveMessage(message: any): void {
    this.listener!.onReceiveMessage(message)
  }

  onReceiveHalfClose(): void {
    this.hasMessage = true
    this.calls.works(this)
    this.listener!.onReceiveHalfClose()
  }

  /** The status has gone, or the stream has. */
  onCancel(): void {
    // The client has not ended its half, and need never do so.
    if (!this.hasMessage) closeStream(this.call)
    this.end()
    this.listener!.onCancel()
  }

  private end(): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.calls.ended(this)
  }

  sendMetadata(metadata: Metadata): void {
    this.call.sendMetadata(metadata)
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  sendMessage(message: any, done: () => void): void {
    if (!(this.isLasting || this.hasEnded)) this.calls.waits(this)
    this.call.sendMessage(message, done)
  }

  sendStatus(status: Status): void {
    if (!this.hasEnded) this.calls.waits(this)
    this.call.sendStatus(status)
  }

  startRead(): void {
    this.call.startRead()
  }

  getPeer(): string {
    return this.call.getPeer()
  }

  getDeadline() {
    return this.call.getDeadline()
  }

  getHost(): string {
    return this.call.getHost()
  }

  getAuthContext() {
    return this.call.getAuthContext()
  }

  getConnectionInfo() {
    return this.call.getConnectionInfo()
  }

  getMetricsRecorder() {
    return this.call.getMetricsRecorder()
  }
}

interface Stream {
  readonly closed: boolean
  readonly destroyed: boolean
  close(): void
}

/** A field that is not public: the library leaves the half open that the client has not ended, and has no verb to close it. */
const streamOf = (call: Call): Stream | undefined => (call as { stream?: Stream }).stream

const closeStream = (call: Call): void => streamOf(call)?.close()

function isClosed(call: Call): boolean {
  const stream = streamOf(call)
  return stream !== undefined && (stream.closed || stream.destroyed)
}
