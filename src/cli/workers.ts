import cluster, { type Worker } from 'node:cluster'
import { systemClock } from '../clock.js'
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

class Supervisor {
  readonly stopped: Promise<void>
  private hasStarted = false
  private isStopping = false
  private deaths: number[] = []
  private finish: () => void = () => {}
  private restarts = new Set<NodeJS.Timeout>()

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
    return worker
  }

  stop(shutdownTimeoutMs: number): void {
    if (this.isStopping) return
    this.isStopping = true
    for (const timer of this.restarts) clearTimeout(timer)
    const workers = Object.values(cluster.workers ?? {})
    for (const worker of workers) worker?.process.kill('SIGTERM')
    if (workers.length === 0) this.finish()
    setTimeout(() => {
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
    const timer = setTimeout(() => {
      this.restarts.delete(timer)
      this.fork()
    }, delayMs)
    this.restarts.add(timer)
  }
}
