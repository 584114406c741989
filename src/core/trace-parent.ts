/** The parent span of a request, from the W3C header. */
export interface TraceParent {
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
