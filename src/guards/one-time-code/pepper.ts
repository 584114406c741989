import { createHmac } from 'node:crypto'
import type { Clock } from '../../core/clock.js'
import type { CodeKey } from './port.js'

/** Where the secret of the hashes comes from; asked each time, because it may be changed while the process runs. */
export interface PepperSource {
  current(): string
  /** The one before, as the operator names it. */
  previous(): string | undefined
  /** The one that was given at the start: it may be changed before anybody here uses codes. */
  readonly first?: string | undefined
}

/** Each costs a verify one more hash. */
const MAX_REPLACED = 4

/**
 * Keyed hashes. A code that was issued under the pepper before this one is still found: while a process runs it
 * remembers peppers that were replaced, for as long as a code can live.
 */
export class Pepper {
  private last: string | undefined
  /** Until when each is accepted, the last that was replaced last. */
  private readonly replaced = new Map<string, number>()

  constructor(
    private readonly source: PepperSource,
    private readonly clock: Clock,
    private readonly longestLifeMs: number,
  ) {
    this.last = source.first
  }

  /** Of the code as it is issued. */
  digest(key: CodeKey, code: string, salt: string): string {
    return digest(this.current(), key, code, salt)
  }

  /** All that it may be stored as. */
  digests(key: CodeKey, code: string, salt: string): string[] {
    const peppers = new Set([this.current(), ...this.earlier()])
    return Array.from(peppers, (pepper) => digest(pepper, key, code, salt))
  }

  /** Stands for an address and purpose where they are counted. */
  entity({ channel, address, purpose }: CodeKey): string {
    return hmac(this.current(), ['entity', channel, purpose, address])
  }

  private current(): string {
    const pepper = this.source.current()
    if (this.last !== undefined && this.last !== pepper) this.remember(this.last)
    this.last = pepper
    return pepper
  }

  private remember(pepper: string): void {
    this.replaced.delete(pepper)
    this.replaced.set(pepper, this.clock.now() + this.longestLifeMs)
    for (const oldest of this.replaced.keys()) {
      if (this.replaced.size > MAX_REPLACED) this.replaced.delete(oldest)
    }
  }

  private earlier(): string[] {
    const named = this.source.previous()
    const now = this.clock.now()
    for (const [pepper, until] of this.replaced) if (until <= now) this.replaced.delete(pepper)
    return [...(named === undefined ? [] : [named]), ...this.replaced.keys()]
  }
}

const digest = (pepper: string, { channel, purpose, address }: CodeKey, code: string, salt: string): string =>
  hmac(pepper, ['code', channel, purpose, address, code, salt])

/** JSON of an array: no part can be taken for another, whatever it holds. */
const hmac = (pepper: string, parts: readonly string[]): string =>
  createHmac('sha256', pepper).update(JSON.stringify(parts)).digest('base64url')
