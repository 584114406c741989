type Chunk = Uint8Array | string

/** All of a body, or as much as fits and what follows. */
export type Captured = { whole: Buffer } | { head: Buffer[]; rest: AsyncIterator<Chunk> }

/** Reads a body to its end, or until there is more than may be kept. */
export async function capture(source: AsyncIterable<Chunk>, maxBytes: number): Promise<Captured> {
  const iterator = source[Symbol.asyncIterator]()
  const head: Buffer[] = []
  let sizeBytes = 0
  for (;;) {
    const { done, value } = await iterator.next()
    if (done) return { whole: Buffer.concat(head) }
    const chunk = Buffer.from(value as Uint8Array)
    head.push(chunk)
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) return { head, rest: iterator }
  }
}

/** Tells the source that nobody wants the rest. */
export async function discard(captured: Captured): Promise<void> {
  if ('rest' in captured) await captured.rest.return?.()
}

/** The same body again, from where it was left. */
export async function* resume(captured: Captured): AsyncGenerator<Buffer> {
  if ('whole' in captured) {
    yield captured.whole
    return
  }
  yield* captured.head
  try {
    for (;;) {
      const { done, value } = await captured.rest.next()
      if (done) return
      yield Buffer.from(value as Uint8Array)
    }
  } finally {
    // The reader may go away: then the source is told, too.
    await discard(captured)
  }
}
