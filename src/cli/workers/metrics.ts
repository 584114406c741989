import cluster, { type Worker } from 'node:cluster'
import { CatracaError } from '../../core/errors.js'
import { guarded, later } from '../../core/timers.js'
import { type MetricsJson, type MetricsRegistry, remainsOf, together } from '../../metrics/index.js'

/** Messages between workers and supervisor. */
type Message =
  | { catraca: 'metrics-wanted'; id: number }
  | { catraca: 'metrics-read'; id: number }
  | { catraca: 'metrics-of-one'; id: number; metrics: MetricsJson }
  | { catraca: 'metrics-of-all'; id: number; parts: MetricsJson[] }

/**
 * A worker that takes longer is shown with its last known metrics. Longer than a worker waits for an engine that
 * hangs (`engine-figures.ts`); otherwise the metric of that outage would never be seen.
 */
const WORKER_TIMEOUT_MS = 2_500
const SUPERVISOR_TIMEOUT_MS = 4_000

function messageOf(given: unknown): Message | undefined {
  const isOurs = typeof given === 'object' && given !== null && 'catraca' in given
  return isOurs ? (given as Message) : undefined
}

/** Runs in a worker: sends its own metrics on request, and renders the text of all workers together. */
export function shareMetrics(own: MetricsRegistry): () => Promise<string> {
  const waiting = new Map<number, (parts: MetricsJson[]) => void>()
  let asked = 0
  // A stopping worker may have disconnected from the supervisor while it read its engines.
  const send = (message: Message) => process.connected && process.send?.(message)
  const hear = async (given: unknown) => {
    const message = messageOf(given)
    if (message?.catraca === 'metrics-of-all') waiting.get(message.id)?.(message.parts)
    if (message?.catraca !== 'metrics-read') return
    send({ catraca: 'metrics-of-one', id: message.id, metrics: await own.getMetricsAsJSON() })
  }
  process.on('message', guarded(hear))
  return async () => {
    const id = ++asked
    const parts = await new Promise<MetricsJson[]>((resolve, reject) => {
      const timer = later(() => reject(silent()), SUPERVISOR_TIMEOUT_MS)
      waiting.set(id, (told) => {
        clearTimeout(timer)
        resolve(told)
      })
      send({ catraca: 'metrics-wanted', id })
    }).finally(() => waiting.delete(id))
    return together(parts).metrics()
  }
}

const silent = () =>
  new CatracaError('ENGINE_UNAVAILABLE', 'the supervisor did not send the metrics of the workers')

/** Runs in the supervisor: collects the metrics of all workers for one of them, and keeps those of dead workers. */
export class MetricsExchange {
  private readonly seen = new Map<number, MetricsJson>()
  private gone: Promise<MetricsJson> | undefined
  private readonly reading = new Map<number, (worker: Worker) => void>()
  private reads = 0

  start(): void {
    const hear = async (worker: Worker, given: unknown) => {
      const message = messageOf(given)
      if (message?.catraca === 'metrics-wanted') await this.tell(worker, message.id)
      if (message?.catraca === 'metrics-of-one') this.heard(worker, message.id, message.metrics)
    }
    cluster.on('message', guarded(hear))
    cluster.on('exit', (worker) => this.keep(worker))
  }

  private async tell(asker: Worker, id: number): Promise<void> {
    await this.readAll()
    const gone = await this.gone
    const parts = [...this.seen.values(), ...(gone === undefined ? [] : [gone])]
    if (asker.isConnected()) asker.send({ catraca: 'metrics-of-all', id, parts } satisfies Message)
  }

  private async readAll(): Promise<void> {
    const id = ++this.reads
    const asked = new Set(Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected()))
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, WORKER_TIMEOUT_MS)
      this.reading.set(id, (worker) => {
        asked.delete(worker)
        if (asked.size > 0) return
        clearTimeout(timer)
        resolve()
      })
      for (const worker of asked) worker!.send({ catraca: 'metrics-read', id } satisfies Message)
    })
    this.reading.delete(id)
  }

  /** Also stored when the request has timed out: it is newer than the last known metrics. */
  private heard(worker: Worker, id: number, metrics: MetricsJson): void {
    // Its counts are kept already.
    if (worker.isDead()) return
    this.seen.set(worker.id, metrics)
    this.reading.get(id)?.(worker)
  }

  private keep(worker: Worker): void {
    // A dead worker cannot respond any more.
    for (const answered of this.reading.values()) answered(worker)
    const last = this.seen.get(worker.id)
    if (last === undefined) return
    this.seen.delete(worker.id)
    const before = this.gone
    this.gone = (async () => remainsOf([...(before === undefined ? [] : [await before]), last]))()
  }
}
