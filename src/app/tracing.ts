import type { Attributes, Context, Span, SpanKind, Tracer } from '@opentelemetry/api'
import { isPromise, type MaybePromise } from '../core/maybe-promise.js'
import type { CallSpan, CallSpans, CallTracing, RequestHeaders } from './call-tracing.js'
import { outcomeOf, type VerbCalls } from './engine-calls.js'

type Api = typeof import('@opentelemetry/api')

/**
 * Spans, if the host of this process collects them. Otherwise `spans` is undefined, and
 * the check for it is the only cost.
 */
export class Tracing implements CallTracing {
  spans: Spans | undefined

  constructor(private readonly isEnabled: boolean) {}

  async look(): Promise<void> {
    if (!this.isEnabled || this.spans !== undefined || !hasProvider()) return
    const api = await import('@opentelemetry/api').catch(() => undefined)
    if (api !== undefined) this.spans = new Spans(api)
  }
}

/** Where the OpenTelemetry API stores its registration. Reading it avoids loading the API if nothing is registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

function hasProvider(): boolean {
  const registered = (globalThis as Record<symbol, { trace?: unknown } | undefined>)[REGISTERED]
  return registered?.trace !== undefined
}

/** Names and attributes say what was done, never for whom: no customer, address, key, code or token. */
class Spans implements CallSpans {
  private readonly tracer: Tracer

  constructor(private readonly api: Api) {
    this.tracer = api.trace.getTracer('catraca')
  }

  /** One engine call, as a child of the caller's span. Background work makes no spans. */
  engineCall(calls: VerbCalls): OpenSpan | undefined {
    const { trace, context, SpanKind } = this.api
    if (trace.getSpan(context.active()) === undefined) return undefined
    const { engine, capability, verb } = calls
    return this.open(`catraca.${capability}.${verb}`, SpanKind.CLIENT, context.active(), {
      'catraca.engine': engine,
      'catraca.capability': capability,
      'catraca.verb': verb,
    })
  }

  request(method: string, route: string, headers: RequestHeaders): OpenSpan {
    const attributes = { 'http.request.method': method, 'http.route': route }
    return this.open(`${method} ${route}`, this.api.SpanKind.SERVER, this.parent(headers), attributes)
  }

  private parent(headers: RequestHeaders): Context {
    const { trace, context, propagation } = this.api
    const active = context.active()
    // The host traces HTTP itself, and has already read the header.
    if (trace.getSpan(active) !== undefined) return active
    if (propagation.fields().length > 0) return propagation.extract(active, headers)
    const parent = readTraceParent(headers.traceparent)
    return parent === undefined ? active : trace.setSpanContext(active, parent)
  }

  private open(name: string, kind: SpanKind, parent: Context, attributes: Attributes): OpenSpan {
    const span = this.tracer.startSpan(name, { kind, attributes }, parent)
    return new OpenSpan(this.api, span, this.api.trace.setSpan(parent, span))
  }
}

class OpenSpan implements CallSpan {
  constructor(
    private readonly api: Api,
    private readonly span: Span,
    private readonly within: Context,
  ) {}

  run<T>(work: () => T): T {
    return this.api.context.with(this.within, work)
  }

  around(work: () => MaybePromise<unknown>): MaybePromise<unknown> {
    try {
      const answer = this.run(work)
      if (!isPromise(answer)) this.ended()
      else {
        answer.then(
          () => this.ended(),
          (error) => this.ended(error),
        )
      }
      return answer
    } catch (error) {
      this.ended(error)
      throw error
    }
  }

  answered(status: number): void {
    this.span.setAttribute('http.response.status_code', status)
    if (status >= 500) this.span.setStatus({ code: this.api.SpanStatusCode.ERROR })
    this.span.end()
  }

  private ended(error?: unknown): void {
    const outcome = error === undefined ? 'ok' : outcomeOf(error)
    this.span.setAttribute('catraca.outcome', outcome)
    // Without the message: it may contain what a span must not.
    if (outcome !== 'ok') this.span.setStatus({ code: this.api.SpanStatusCode.ERROR })
    this.span.end()
  }
}

/** The parent span of a request, from the W3C header. */
interface TraceParent {
  traceId: string
  spanId: string
  traceFlags: number
  isRemote: true
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NO_TRACE = /^0+$/

/** Undefined if the header is absent or invalid: then a new trace begins here. */
export function readTraceParent(header: string | string[] | undefined): TraceParent | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, traceId, spanId, flags, rest] = FORM.exec(header) ?? []
  if (version === undefined || traceId === undefined || spanId === undefined) return undefined
  // Later versions may add fields after the flags; this version may not.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (NO_TRACE.test(traceId) || NO_TRACE.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true }
}
