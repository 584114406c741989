/**
 * The clock of the server, by which it opens waves, ends leases and lets members expire. The clock of the browser may be
 * minutes away from it, so nothing on a page is judged by that one.
 *
 * Every answer tells the time in its `Date` header, in whole seconds. So each answer bounds how far the browser is behind:
 * several answers together bound it to a fraction of a second.
 */
let leastBehindMs = Number.NEGATIVE_INFINITY
let mostBehindMs = Number.POSITIVE_INFINITY

const HEADER_STEP_MS = 1000

/** Takes the time from an answer that was asked for and received at these times of the browser. */
export function hearServerTime(date: string | null, askedMs: number, receivedMs: number): void {
  const told = Date.parse(date ?? '')
  if (Number.isNaN(told)) return
  const least = told - receivedMs
  const most = told + HEADER_STEP_MS - askedMs
  // Both cannot be true: one of the clocks was set meanwhile, and the newer answer holds.
  const isOtherClock = least > mostBehindMs || most < leastBehindMs
  leastBehindMs = isOtherClock ? least : Math.max(least, leastBehindMs)
  mostBehindMs = isOtherClock ? most : Math.min(most, mostBehindMs)
}

/** The time of the server, in milliseconds since 1970. The browser's own, as long as no answer contradicts it. */
export function serverNow(): number {
  return Date.now() + Math.min(Math.max(0, leastBehindMs), mostBehindMs)
}

/** As `fetch`, and hears the time. */
export async function fetchTimed(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const askedMs = Date.now()
  const response = await fetch(input, init)
  hearServerTime(response.headers.get('date'), askedMs, Date.now())
  return response
}
