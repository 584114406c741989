/** What a call may say beside its input. */
export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Instead of the client's own; 0 waits for ever. */
  timeoutMs?: number | undefined
}

/** A body of any size. In a browser give a `Blob` or a `File`: not all of them send streams. */
export type StreamBody = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** How an operation goes over the wire, as the generated table has it. */
export interface OperationFacts {
  method: string
  /** With its parameters in braces. */
  path: string
  query?: readonly string[]
  /** Name in the input → name of the header. */
  headers?: Readonly<Record<string, string>>
  body?: 'json' | 'stream'
  /** JSON when absent. */
  answer?: 'none' | 'stream'
  accept?: readonly string[]
}
