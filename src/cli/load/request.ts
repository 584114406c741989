/** A kind of request, with its own counters. */
export interface Operation {
  readonly name: string
  /** Whether this status is a correct response. */
  expects(status: number): boolean
}

/** One request, ready to be written. */
export interface LoadRequest {
  readonly operation: Operation
  /** Its bytes, one per character. */
  readonly text: string
  /** Called with the response, when a later request depends on it. */
  readonly answered?: (status: number, body: string) => void
}

/** Makes the next request. */
export type NextRequest = () => LoadRequest

export type FailureKind = 'status' | 'refused' | 'reset' | 'timeout' | 'protocol' | 'unsent'

/** Called for every event of a request; times are those of `performance.now()`. */
export interface LoadObserver {
  /** When the request was due, and when the generator noticed it. The difference is a delay of the generator. */
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
