/** Whose span a request is part of, as the W3C header tells it. */
export interface TraceParent {
  traceId: string
  spanId: string
  traceFlags: number
  isRemote: true
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NO_TRACE = /^0+$/

/** Undefined for what is absent, or not as it must be: then a trace begins here. */
export function readTraceParent(header: string | string[] | undefined): TraceParent | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, traceId, spanId, flags, rest] = FORM.exec(header) ?? []
  if (version === undefined || traceId === undefined || spanId === undefined) return undefined
  // Later versions may have more behind the flags; this one may not.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (NO_TRACE.test(traceId) || NO_TRACE.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true }
}
