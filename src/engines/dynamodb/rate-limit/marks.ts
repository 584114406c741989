import { randomBytes } from 'node:crypto'

/** Unique names of writes: a random prefix of the instance, and a number. */
export class Marks {
  private readonly prefix = randomBytes(9).toString('base64url')
  private count = 0

  next(): string {
    return `${this.prefix}.${(this.count++).toString(36)}`
  }
}
