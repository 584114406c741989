let text = ''
let validUntilMs = 0

/** The current `Date` header, computed once a second. */
export function httpDate(): string {
  const nowMs = Date.now()
  // Also computed again when the clock was set back.
  if (nowMs >= validUntilMs || nowMs < validUntilMs - 1000) {
    validUntilMs = nowMs - (nowMs % 1000) + 1000
    text = new Date(nowMs).toUTCString()
  }
  return text
}
