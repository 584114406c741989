import { randomBytes } from 'node:crypto'

/** Names of writes, unique for ever: a random one for the instance, and a number. */
export class Marks {
  private readonly prefix = randomBytes(9).toString('base64url')
  private count = 0

  next(): string {
    return `${this.prefix}.${(this.count++).toString(36)}`
  }
}
