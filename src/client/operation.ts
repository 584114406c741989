/** Options of a call beside its input. */
export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Overrides the timeout of the client; 0 waits for ever. */
  timeoutMs?: number | undefined
  /** Why a change is made, for the audit trail; instead of the reason of the client. */
  reason?: string | undefined
  /** Called with the headers of the response, also when the call then fails. */
  onHeaders?: ((headers: Headers) => void) | undefined
}

/** A body of any size. In a browser use a `Blob` or a `File`: not all browsers send streams. */
export type StreamBody = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** How an operation is sent over HTTP, from the generated table. */
export interface OperationFacts {
  method: string
  /** Path with parameters in braces. */
  path: string
  query?: readonly string[]
  /** Name in the input → name of the header. */
  headers?: Readonly<Record<string, string>>
  body?: 'json' | 'stream'
  /** JSON when absent. */
  answer?: 'none' | 'stream'
  accept?: readonly string[]
}
