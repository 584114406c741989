/** The rules in plain words and exact fractions, for the property tests: slow, and without any state to keep small. */
export interface Admission {
  at: number
  cost: number
}

/** Tokens used of a bucket at a time, as a fraction over `periodMs`: all admissions replayed from the first. */
export function bucketUsed(
  admissions: readonly Admission[],
  refillAmount: number,
  periodMs: number,
  now: number,
): bigint {
  let used = 0n
  let at = admissions[0]?.at ?? now
  const fade = (to: number) => {
    const left = used - BigInt(to - at) * BigInt(refillAmount)
    used = left > 0n ? left : 0n
    at = to
  }
  for (const admission of admissions) {
    fade(admission.at)
    used += BigInt(admission.cost) * BigInt(periodMs)
  }
  fade(now)
  return used
}

/** The most that was admitted in any window of a length, wherever it begins. */
export function mostInWindow(admissions: readonly Admission[], periodMs: number): number {
  let most = 0
  for (const { at: end } of admissions) {
    let sum = 0
    for (const { at, cost } of admissions) if (at <= end && at > end - periodMs) sum += cost
    most = Math.max(most, sum)
  }
  return most
}

export function mostInAlignedWindow(admissions: readonly Admission[], periodMs: number): number {
  const sums = new Map<number, number>()
  for (const { at, cost } of admissions) {
    const start = at - (at % periodMs)
    sums.set(start, (sums.get(start) ?? 0) + cost)
  }
  return Math.max(0, ...sums.values())
}
