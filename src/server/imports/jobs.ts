/** The running imports, so that a stopping server can wait for them or abort them. */
export class ImportJobs {
  private readonly running = new Set<Promise<unknown>>()
  private readonly shutdown = new AbortController()

  /** Runs an import until it ends, `stop` fires, or the server aborts all imports. */
  run<T>(work: (signal: AbortSignal) => Promise<T>, stop?: AbortSignal): Promise<T> {
    const { signal } = this.shutdown
    const job = work(stop === undefined ? signal : AbortSignal.any([signal, stop]))
    const tracked = job.then(
      () => {},
      () => {},
    )
    this.running.add(tracked)
    tracked.finally(() => this.running.delete(tracked))
    return job
  }

  get brokenOff(): boolean {
    return this.shutdown.signal.aborted
  }

  breakOff(): void {
    this.shutdown.abort(new Error('the server is stopping'))
  }

  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running)
  }
}
