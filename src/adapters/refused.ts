/** Requests or responses that a guard of this package has refused: nothing was executed for them. */
const refused = new WeakSet<object>()

export function markRefused(request: object): void {
  refused.add(request)
}

export function wasRefused(request: object): boolean {
  return refused.has(request)
}
