import cluster, { type Worker } from 'node:cluster'
import { systemClock } from '../../core/clock.js'
import { guarded, later } from '../../core/timers.js'
import type { LogLevel, RunningServer } from '../../server/index.js'
import { EXIT, Exit } from '../output/failure.js'
import { note } from '../output/print.js'
import { type Addresses, isReady, Listener, type ListeningMessage, requestStop } from './connections.js'
import { MetricsExchange } from './metrics.js'

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 30_000
/** A worker that served for this long did not crash at its start. */
const HEALTHY_MS = 2_000

/** The delay before a dead worker is replaced: only a crash loop is slowed down. */
export class RestartPauses {
  private earlyDeaths = 0

  /** `servedMs` is undefined for a worker that never served. */
  afterDeath(servedMs: number | undefined): number {
    this.earlyDeaths = servedMs !== undefined && servedMs >= HEALTHY_MS ? 0 : this.earlyDeaths + 1
    return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, this.earlyDeaths - 1))
  }
}

interface LogLevelMessage {
  catraca: 'log-level'
  level: LogLevel
  forSeconds?: number | undefined
}

const isLogLevel = (message: unknown): message is LogLevelMessage =>
  (message as LogLevelMessage | null)?.catraca === 'log-level'

/** Sends a new log level to the other workers, if there are any. */
export function broadcastLogLevel(level: LogLevel, forSeconds: number | undefined): void {
  if (cluster.isWorker) process.send?.({ catraca: 'log-level', level, forSeconds } satisfies LogLevelMessage)
}

export function followLogLevel(server: RunningServer): void {
  if (!cluster.isWorker) return
  process.on('message', (message) => {
    if (isLogLevel(message)) server.setLogLevel(message.level, message.forSeconds)
  })
}

/** Keeps this number of workers running until a signal stops them all. */
export async function superviseWorkers(
  count: number,
  addresses: Addresses,
  shutdownTimeoutMs: number,
  environment: Record<string, string>,
): Promise<void> {
  const supervisor = new Supervisor(addresses, environment)
  const stop = guarded(() => supervisor.stop(shutdownTimeoutMs))
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  new MetricsExchange().start()
  // Starts one worker first, so that a wrong configuration is reported once and not by every worker.
  await supervisor.start()
  for (let i = 1; i < count; i++) supervisor.fork()
  await supervisor.stopped
}

/** The log level of all workers, including those that start later. */
class SharedLogLevel {
  private last: { message: LogLevelMessage; at: number } | undefined

  tell(message: LogLevelMessage, by: Worker): void {
    this.last = { message, at: systemClock.now() }
    for (const other of Object.values(cluster.workers ?? {})) if (other !== by) other?.send(message)
  }

  greet(worker: Worker): void {
    if (this.last === undefined) return
    const { message, at } = this.last
    const { forSeconds } = message
    if (forSeconds === undefined) return void worker.send(message)
    const left = Math.ceil(forSeconds - (systemClock.now() - at) / 1000)
    if (left > 0) worker.send({ ...message, forSeconds: left })
  }
}

class Supervisor {
  readonly stopped: Promise<void>
  private hasStarted = false
  private isStopping = false
  private finish: () => void = () => {}
  private restarts = new Set<NodeJS.Timeout>()
  private readonly pauses = new RestartPauses()
  private readonly logLevel = new SharedLogLevel()
  private readonly http = new Listener('http')
  private readonly grpc: Listener | undefined

  constructor(
    private readonly addresses: Addresses,
    private readonly environment: Record<string, string>,
  ) {
    this.grpc = addresses.grpc && new Listener('grpc')
    this.stopped = new Promise((resolve) => {
      this.finish = resolve
    })
  }

  private get listeners(): Listener[] {
    return this.grpc === undefined ? [this.http] : [this.http, this.grpc]
  }

  /** Opens the port once a worker can serve it. */
  async start(): Promise<void> {
    const worker = this.fork()
    const isServing = await new Promise<boolean>((resolve) => {
      worker.on('message', (message: unknown) => isReady(message) && resolve(true))
      worker.once('exit', () => resolve(false))
    })
    if (this.isStopping) return
    // The worker has printed the reason.
    if (!isServing) throw new Exit(EXIT.failure)
    try {
      const http = (await this.http.listen(this.addresses.http)).port
      const grpc = (await this.grpc?.listen(this.addresses.grpc!))?.port
      this.hasStarted = true
      worker.send({ catraca: 'listening', ports: { http, grpc } } satisfies ListeningMessage)
    } catch (error) {
      worker.process.kill('SIGTERM')
      throw error
    }
  }

  fork(): Worker {
    const worker = cluster.fork(this.environment)
    let readyAt: number | undefined
    worker.once('exit', (code, signal) => {
      for (const listener of this.listeners) listener.drop(worker)
      this.onExit(signal ?? `code ${code}`, readyAt === undefined ? undefined : performance.now() - readyAt)
    })
    worker.on(
      'message',
      guarded((message: unknown) => {
        if (isLogLevel(message)) this.logLevel.tell(message, worker)
        if (!isReady(message)) return
        readyAt = performance.now()
        for (const listener of this.listeners) listener.add(worker)
        this.logLevel.greet(worker)
      }),
    )
    return worker
  }

  /** Stops accepting first; then the workers finish, including the last connections that they were given. */
  async stop(shutdownTimeoutMs: number): Promise<void> {
    if (this.isStopping) return
    this.isStopping = true
    for (const timer of this.restarts) clearTimeout(timer)
    later(() => {
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
    }, shutdownTimeoutMs + 2000).unref()
    await Promise.all(this.listeners.map((listener) => listener.close()))
    const workers = Object.values(cluster.workers ?? {})
    for (const worker of workers) if (worker !== undefined) requestStop(worker)
    if (workers.length === 0) this.finish()
  }

  private onExit(how: string, servedMs: number | undefined): void {
    if (this.isStopping) {
      if (Object.keys(cluster.workers ?? {}).length === 0) this.finish()
      return
    }
    if (!this.hasStarted) return
    const delayMs = this.pauses.afterDeath(servedMs)
    note(`catraca: a worker died (${how}); another one starts in ${delayMs} ms`)
    const timer = later(() => {
      this.restarts.delete(timer)
      this.fork()
    }, delayMs)
    this.restarts.add(timer)
  }
}
