import { createHmac } from 'node:crypto'
import type { Clock } from '../../core/clock.js'
import type { CodeKey } from './port.js'

/** The source of the hash secret. Read at every use, because it may change while the process runs. */
export interface PepperSource {
  current(): string
  /** The previous pepper, if the operator configured it. */
  previous(): string | undefined
  /** The pepper at the start. It may change before the first use of a code. */
  readonly first?: string | undefined
}

/** Each accepted pepper costs one more hash per verification. */
const MAX_REPLACED = 4

/**
 * Keyed hashes. Codes issued under an earlier pepper still work: the process remembers replaced peppers for as
 * long as a code can live.
 */
export class Pepper {
  private last: string | undefined
  /** Until when each replaced pepper is accepted, most recently replaced last. */
  private readonly replaced = new Map<string, number>()

  constructor(
    private readonly source: PepperSource,
    private readonly clock: Clock,
    private readonly longestLifeMs: number,
  ) {
    this.last = source.first
  }

  /** Digest of a new code. */
  digest(key: CodeKey, code: string, salt: string): string {
    return digest(this.current(), key, code, salt)
  }

  /** All digests under which the code may be stored. */
  digests(key: CodeKey, code: string, salt: string): string[] {
    const peppers = new Set([this.current(), ...this.earlier()])
    return Array.from(peppers, (pepper) => digest(pepper, key, code, salt))
  }

  /** A keyed hash that replaces an address and purpose in the counters. */
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

/** JSON of an array, so that the parts cannot run into each other. */
const hmac = (pepper: string, parts: readonly string[]): string =>
  createHmac('sha256', pepper).update(JSON.stringify(parts)).digest('base64url')
