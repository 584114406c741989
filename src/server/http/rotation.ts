/** Queues of callers, which take turns: who asks for much delays only itself. */
export class Rotation<T> {
  private readonly queues = new Map<unknown, T[]>()

  get isEmpty(): boolean {
    return this.queues.size === 0
  }

  add(caller: unknown, item: T): void {
    const queue = this.queues.get(caller)
    if (queue === undefined) this.queues.set(caller, [item])
    else queue.push(item)
  }

  /** Takes the first of the caller that was served least recently; undefined when nobody waits. */
  next(): T | undefined {
    for (const [caller, queue] of this.queues) {
      this.queues.delete(caller)
      const item = queue.shift()
      if (queue.length > 0) this.queues.set(caller, queue)
      return item
    }
    return undefined
  }
}
