import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../../core/clock.js'
import { CatracaError } from '../../../core/errors.js'
import type { SessionStore } from './port.js'

/** A session of a person in one browser. */
export interface Session {
  /** SHA-256 of the secret that the browser has. */
  readonly id: string
  readonly subject: string
  /** As the audit trail names the person. */
  readonly name: string
  /** Names of roles; what they permit is looked up at every request. */
  readonly roles: readonly string[]
  readonly createdAt: number
  readonly endsAt: number
  readonly usedAt: number
  /** Until then the provider need not be asked whether the person is still there. */
  readonly dueAt: number
  /** The provider did not answer; it is asked again from then on. */
  readonly retryAt?: number
  /** Some process asks the provider, at most until then. */
  readonly renewingUntil?: number
  /** Tokens of the provider, encrypted. */
  readonly sealed?: string
}

/** What becomes of the sessions of a person, and what to tell the caller. Without `next` nothing is written. */
export interface Change<T> {
  readonly next?: readonly Session[]
  readonly result: T
}

/** Swaps that others overtook. Each is followed by a read, and one of all those who compete always succeeds. */
const MAX_TRIES = 50
const VERSION_BYTES = 12

/** The sessions of people, by person. The stored record holds no secret by which anybody could enter. */
export class Sessions {
  constructor(
    private readonly store: SessionStore,
    private readonly clock: Clock,
  ) {}

  now(): number {
    return this.clock.now()
  }

  async find(person: string, id: string): Promise<Session | undefined> {
    return (await this.read(person)).sessions.find((session) => session.id === id)
  }

  /** Adds a session. Beyond `max` the ones that were used least recently end. */
  open(person: string, session: Session, max: number): Promise<void> {
    return this.change(person, (sessions) => {
      const others = sessions.filter(({ id }) => id !== session.id)
      const kept = others.sort((a, b) => b.usedAt - a.usedAt).slice(0, max - 1)
      return { next: [...kept, session], result: undefined }
    })
  }

  /** Ends the sessions that `isMeant` says; returns them. */
  end(person: string, isMeant: (session: Session) => boolean): Promise<readonly Session[]> {
    return this.change(person, (sessions) => {
      const ended = sessions.filter(isMeant)
      if (ended.length === 0) return { result: ended }
      return { next: sessions.filter((session) => !isMeant(session)), result: ended }
    })
  }

  /** Changes one session, if it is still there. */
  update<T>(
    person: string,
    id: string,
    decide: (session: Session) => { next?: Session; result: T },
  ): Promise<T | undefined> {
    return this.change<T | undefined>(person, (sessions) => {
      const found = sessions.find((session) => session.id === id)
      if (found === undefined) return { result: undefined }
      const { next, result } = decide(found)
      if (next === undefined) return { result }
      return { next: sessions.map((session) => (session === found ? next : session)), result }
    })
  }

  sweep(now: number): Promise<{ more: boolean }> {
    return this.store.sweep(now)
  }

  private async change<T>(person: string, decide: (sessions: Session[]) => Change<T>): Promise<T> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { version, sessions } = await this.read(person)
      const { next, result } = decide(sessions)
      if (next === undefined) return result
      if (await this.store.swap(person, version, recordOf(next), this.now())) return result
    }
    throw new CatracaError('ENGINE_UNAVAILABLE', 'the sessions of this person change too often')
  }

  /** Those that have not ended. */
  private async read(person: string): Promise<{ version: string | undefined; sessions: Session[] }> {
    const stored = await this.store.read(person)
    if (stored === undefined) return { version: undefined, sessions: [] }
    const now = this.now()
    return { version: stored.version, sessions: parse(stored.text).filter(({ endsAt }) => endsAt > now) }
  }
}

function recordOf(sessions: readonly Session[]) {
  if (sessions.length === 0) return undefined
  return {
    version: randomBytes(VERSION_BYTES).toString('base64url'),
    text: JSON.stringify(sessions),
    endsAt: Math.max(...sessions.map(({ endsAt }) => endsAt)),
  }
}

function parse(text: string): Session[] {
  try {
    return JSON.parse(text) as Session[]
  } catch (cause) {
    throw new CatracaError('STORE_CORRUPT', 'the sessions of a person cannot be read', { cause })
  }
}

/** Under which the sessions of a person are stored. Two providers may have the same subject. */
export function personKey(issuer: string, subject: string): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('base64url')
}
