/** Above this number, differences are not logged one by one. */
const MAX_CUSTOMERS = 10_000

/** The customers that a replace changes, if they are few. */
export class DifferenceList {
  private keys: Uint8Array[] = []
  private count = 0

  get isOverfull(): boolean {
    return this.count > MAX_CUSTOMERS
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    this.count++
    if (this.isOverfull) this.keys = []
    else this.keys.push(bytes.slice(start, end))
  }

  forEach(visit: (bytes: Uint8Array, start: number, end: number) => void): void {
    for (const key of this.keys) visit(key, 0, key.length)
  }
}
