import type { MaybePromise } from '../core/maybe-promise.js'
import type { VerbCalls } from './engine-calls.js'

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Spans of requests and engine calls. Names no type of OpenTelemetry, which a user may not have. */
export interface CallTracing {
  /** Undefined while the host collects no spans. */
  readonly spans: CallSpans | undefined
  /** Checks whether the host has registered a provider by now. */
  look(): Promise<void>
}

export interface CallSpans {
  /** An engine call, as a child of the caller's span. Background work makes no spans. */
  engineCall(calls: VerbCalls): CallSpan | undefined
  /**
   * A request to the server, as a child of the client's span if it sends one (W3C
   * `traceparent`, or what the host reads).
   */
  request(method: string, route: string, headers: RequestHeaders): CallSpan
}

export interface CallSpan {
  /** Spans that begin inside are children of this one. */
  run<T>(work: () => T): T
  /** Runs an engine call and ends with it. */
  around(work: () => MaybePromise<unknown>): MaybePromise<unknown>
  /** Ends the span of a request. */
  answered(status: number): void
}
