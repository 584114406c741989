import { syncBuiltinESMExports } from 'node:module'
import threads, { isMainThread, Worker, type WorkerOptions } from 'node:worker_threads'

/** Loaded into a server with `--import`: tells whoever started it what memory it uses, after a collection. */
const COLLECT_EVERY_MS = 5000
// What is garbage says nothing of a leak.
const collect = (): void => (globalThis as { gc?: () => void }).gc?.()

/** The product gives its threads no flags of the process, so they would not load this file. */
class CollectedWorker extends Worker {
  constructor(file: string | URL, options: WorkerOptions = {}) {
    super(file, { ...options, execArgv: ['--import', import.meta.url] })
  }
}

if (isMainThread) {
  threads.Worker = CollectedWorker
  syncBuiltinESMExports()
  process.on('message', () => {
    collect()
    process.send?.(process.memoryUsage())
  })
  // It must not keep a server from ending.
  process.channel?.unref()
} else {
  // Threads are collected too: with little to do, they keep tens of megabytes of garbage for minutes.
  setInterval(collect, COLLECT_EVERY_MS).unref()
}
