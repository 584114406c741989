import type { handleServerStreamingCall, ServerWritableStream } from '@grpc/grpc-js'
import { CatracaError } from '../../core/errors.js'
import { every } from '../../core/timers.js'
import { HEALTH } from '../../wire/server.js'
import type { ServerContext } from '../http/context.js'
import type { GrpcHandler } from './calls.js'
import { GRPC } from './status.js'

interface HealthRequest {
  service?: string
}
interface HealthResponse {
  status: number
}

const STATUS = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const
const LOOK_EVERY_MS = 1_000
const MAX_WATCHERS = 1_000

type Watcher = ServerWritableStream<HealthRequest, HealthResponse>

/** `grpc.health.v1`: what `/ready` says over HTTP. */
export class HealthService implements GrpcHandler<HealthRequest, HealthResponse> {
  readonly operation = HEALTH.ready
  /** With the status that each was told last. */
  private readonly watchers = new Map<Watcher, number>()
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly context: ServerContext,
    private readonly services: readonly string[],
  ) {}

  async handle({ service = '' }: HealthRequest): Promise<HealthResponse> {
    const status = this.statusOf(service)
    if (status !== STATUS.SERVICE_UNKNOWN) return { status }
    throw new CatracaError('ROUTE_NOT_FOUND', 'there is no such service')
  }

  /** Tells the status now, and whenever it changes. */
  readonly watch: handleServerStreamingCall<HealthRequest, HealthResponse> = (call) => {
    if (this.watchers.size >= MAX_WATCHERS) {
      call.emit('error', { code: GRPC.RESOURCE_EXHAUSTED, details: `${MAX_WATCHERS} callers watch already` })
      return
    }
    this.watchers.set(call, 0)
    this.timer ??= every(() => this.tell(), LOOK_EVERY_MS).unref()
    call.on('cancelled', () => this.forget(call))
    this.tell()
  }

  /** The status of a server that stops, as the last word. */
  stop(): void {
    this.tell()
    for (const call of this.watchers.keys()) {
      call.end()
      this.forget(call)
    }
  }

  private tell(): void {
    for (const [call, told] of this.watchers) {
      const status = this.statusOf(call.request?.service ?? '')
      if (status === told) continue
      this.watchers.set(call, status)
      call.write({ status })
    }
  }

  private forget(call: Watcher): void {
    this.watchers.delete(call)
    if (this.watchers.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }

  private statusOf(service: string): number {
    if (service !== '' && !this.services.includes(service)) return STATUS.SERVICE_UNKNOWN
    const { context } = this
    return context.settings.ready() && !context.stopping ? STATUS.SERVING : STATUS.NOT_SERVING
  }
}
