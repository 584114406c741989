/** A kind of request, counted by itself. */
export interface Operation {
  readonly name: string
  /** Whether this status is one of its proper answers. */
  expects(status: number): boolean
}

/** One request, ready to be written. */
export interface LoadRequest {
  readonly operation: Operation
  /** Its bytes, one a character. */
  readonly text: string
  /** Told the answer, where a later request depends on it. */
  readonly answered?: (status: number, body: string) => void
}

/** Makes the next request, whichever it is. */
export type NextRequest = () => LoadRequest

export type FailureKind = 'status' | 'refused' | 'reset' | 'timeout' | 'protocol' | 'unsent'

/** Told of everything that happens to requests; times are those of `performance.now()`. */
export interface LoadObserver {
  /** It was due at one time and noticed by the generator at another; the difference is the generator's fault. */
  due(dueMs: number, noticedMs: number): void
  sent(dueMs: number, noticedMs: number, sentMs: number): void
  answered(request: LoadRequest, dueMs: number, sentMs: number, endMs: number, status: number): void
  failed(
    request: LoadRequest,
    kind: FailureKind,
    dueMs: number,
    sentMs: number | undefined,
    endMs: number,
  ): void
}
