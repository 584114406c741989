type Chunk = Uint8Array | string

/** A whole body, or its first part and an iterator over the rest. */
export type Captured = { whole: Buffer } | { head: Buffer[]; rest: AsyncIterator<Chunk> }

/** Reads a body to its end, or until it exceeds the size that is stored. */
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

/** Ends the source: the rest is not needed. */
export async function discard(captured: Captured): Promise<void> {
  if ('rest' in captured) await captured.rest.return?.()
}

/** The body again, from its beginning. */
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
    // The reader may stop early: then the source is ended too.
    await discard(captured)
  }
}
