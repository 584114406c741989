import cluster, { type Worker } from 'node:cluster'
import { systemClock } from '../clock.js'
import type { LogLevel, RunningServer } from '../server/index.js'
import { later } from '../timers.js'
import { EXIT, Exit } from './failure.js'
import { note } from './output.js'
import { MetricsExchange } from './worker-metrics.js'

const RECENT_MS = 60_000
const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 30_000

/** How long to wait before the next restart, when so many workers died lately: a crash loop must stay slow. */
export function restartDelayMs(recentDeaths: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, recentDeaths - 1))
}

interface LogLevelMessage {
  catraca: 'log-level'
  level: LogLevel
  forSeconds?: number | undefined
}

const isLogLevel = (message: unknown): message is LogLevelMessage =>
  (message as LogLevelMessage | null)?.catraca === 'log-level'

/** Has the other workers, if there are any, log what this one was told to log. */
export function tellLogLevel(level: LogLevel, forSeconds: number | undefined): void {
  if (cluster.isWorker) process.send?.({ catraca: 'log-level', level, forSeconds } satisfies LogLevelMessage)
}

export function followLogLevel(server: RunningServer): void {
  if (!cluster.isWorker) return
  process.on('message', (message) => {
    if (isLogLevel(message)) server.setLogLevel(message.level, message.forSeconds)
  })
}

/** Keeps so many workers serving, until a signal stops them all. */
export async function superviseWorkers(
  count: number,
  shutdownTimeoutMs: number,
  environment: Record<string, string>,
): Promise<void> {
  const supervisor = new Supervisor(environment)
  const stop = () => supervisor.stop(shutdownTimeoutMs)
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  new MetricsExchange().start()
  // One first: what is wrong with the configuration or the port is then told once, not by every worker.
  await supervisor.start()
  for (let i = 1; i < count; i++) supervisor.fork()
  await supervisor.stopped
}

/** What the workers log, also those that start later. */
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
  private deaths: number[] = []
  private finish: () => void = () => {}
  private restarts = new Set<NodeJS.Timeout>()
  private readonly logLevel = new SharedLogLevel()

  constructor(private readonly environment: Record<string, string>) {
    this.stopped = new Promise((resolve) => {
      this.finish = resolve
    })
  }

  async start(): Promise<void> {
    const worker = this.fork()
    const isServing = await new Promise<boolean>((resolve) => {
      worker.once('listening', () => resolve(true))
      worker.once('exit', () => resolve(false))
    })
    // The worker has said why.
    if (!isServing && !this.isStopping) throw new Exit(EXIT.failure)
    this.hasStarted = true
  }

  fork(): Worker {
    const worker = cluster.fork(this.environment)
    worker.once('exit', (code, signal) => this.onExit(signal ?? `code ${code}`))
    worker.on('message', (message: unknown) => {
      if (isLogLevel(message)) this.logLevel.tell(message, worker)
    })
    worker.once('listening', () => this.logLevel.greet(worker))
    return worker
  }

  stop(shutdownTimeoutMs: number): void {
    if (this.isStopping) return
    this.isStopping = true
    for (const timer of this.restarts) clearTimeout(timer)
    const workers = Object.values(cluster.workers ?? {})
    for (const worker of workers) worker?.process.kill('SIGTERM')
    if (workers.length === 0) this.finish()
    later(() => {
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
    }, shutdownTimeoutMs + 2000).unref()
  }

  private onExit(how: string): void {
    if (this.isStopping) {
      if (Object.keys(cluster.workers ?? {}).length === 0) this.finish()
      return
    }
    if (!this.hasStarted) return
    const now = systemClock.now()
    this.deaths = [...this.deaths.filter((at) => at > now - RECENT_MS), now]
    const delayMs = restartDelayMs(this.deaths.length)
    note(`catraca: a worker died (${how}); another one starts in ${delayMs} ms`)
    const timer = later(() => {
      this.restarts.delete(timer)
      this.fork()
    }, delayMs)
    this.restarts.add(timer)
  }
}
