type Chunk = Uint8Array | string

/** A whole body, or its first part and an iterator over the rest. */
export type Captured = { whole: Buffer } | { head: Buffer[]; rest: AsyncIterator<Chunk> }

/** Reads a body to its end, or until it exceeds the size that is stored. */
export const capture = (source: AsyncIterable<Chunk>, maxBytes: number): Promise<Captured> =>
  captureFrom(source[Symbol.asyncIterator](), maxBytes)

/** The same of a web stream, whose own iterator costs several times as much as its reader. */
export function captureStream(source: ReadableStream<Uint8Array>, maxBytes: number): Promise<Captured> {
  const reader = source.getReader()
  const iterator: AsyncIterator<Chunk> = {
    next: () => reader.read() as Promise<IteratorResult<Chunk>>,
    async return() {
      await reader.cancel()
      return { done: true, value: undefined }
    },
  }
  return captureFrom(iterator, maxBytes)
}

async function captureFrom(iterator: AsyncIterator<Chunk>, maxBytes: number): Promise<Captured> {
  const head: Buffer[] = []
  let sizeBytes = 0
  for (;;) {
    const { done, value } = await iterator.next()
    if (done) return { whole: head.length === 1 ? head[0]! : Buffer.concat(head) }
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
