import { setTimeout as pause } from 'node:timers/promises'
import type { Session, Sessions } from '../../../guards/access/sessions/index.js'
import type { People } from './people.js'
import type { Confirmed, Provider, Renewal, Tokens } from './provider.js'
import type { Seal } from './seal.js'
import type { SignInSettings } from './settings.js'

type Renewed = Session | 'ended'

interface RenewalParts {
  readonly sessions: Sessions
  readonly provider: Pick<Provider, 'renew'>
  readonly people: People
  readonly seal: Seal
  readonly settings: SignInSettings
  /** Called when a session ends, or goes on without the provider. */
  readonly report: (message: string, error: unknown) => void
}

/** Whether this process asks, another one does, or nobody needs to. */
interface Claim {
  readonly state: 'claimed' | 'busy' | 'current'
  readonly session: Session
}

/** What one renewal asks of the provider: its description, new tokens, its keys, and what it knows of the person. */
const CALLS = 4
/** Longer than they may take together. */
const leaseMsOf = ({ timeoutMs }: Pick<SignInSettings, 'timeoutMs'>): number => CALLS * timeoutMs + 5_000
const RETRY_MS = 5_000
const POLL_MS = 50

/**
 * Asks the provider whether a person is still there. A refresh token is good for one use with many providers, and a second
 * one ends the session there: so one process asks, and the others wait for its result.
 */
export class Renewals {
  private readonly running = new Map<string, Promise<Renewed>>()

  constructor(private readonly parts: RenewalParts) {}

  /** The session as it is after the provider was asked, by this process or another. */
  renewed(person: string, session: Session): Promise<Renewed> {
    const key = `${person}.${session.id}`
    let running = this.running.get(key)
    if (running === undefined) {
      running = this.renew(person, session.id).finally(() => this.running.delete(key))
      this.running.set(key, running)
    }
    return running
  }

  private async renew(person: string, id: string): Promise<Renewed> {
    for (;;) {
      const claimed = await this.claim(person, id)
      if (claimed === undefined) return 'ended'
      if (claimed.state === 'current') return claimed.session
      if (claimed.state === 'claimed') return this.ask(person, claimed.session)
      await pause(POLL_MS)
    }
  }

  private claim(person: string, id: string): Promise<Claim | undefined> {
    const { sessions, settings } = this.parts
    const now = sessions.now()
    return sessions.update<Claim>(person, id, (session) => {
      if (!isDue(session, now)) return { result: { state: 'current', session } }
      if ((session.renewingUntil ?? 0) > now) return { result: { state: 'busy', session } }
      const next = { ...session, renewingUntil: now + leaseMsOf(settings) }
      return { next, result: { state: 'claimed', session } }
    })
  }

  private async ask(person: string, session: Session): Promise<Renewed> {
    const { seal, provider, report } = this.parts
    const opened = session.sealed && seal.open('tokens', session.id, session.sealed)
    const tokens = opened ? (JSON.parse(opened) as Tokens) : {}
    const { refresh } = tokens
    // Without a refresh token nobody can ask, so the session ends when the provider's word does.
    if (refresh === undefined) return this.end(person, session)
    const renewal = await provider.renew(session.subject, { ...tokens, refresh })
    if ('confirmed' in renewal) return this.confirm(person, session, renewal.confirmed)
    if ('refused' in renewal) {
      report('a session has ended: the sign-in provider refuses the person', renewal.refused)
      return this.end(person, session)
    }
    return this.goOn(person, session, renewal)
  }

  private async confirm(person: string, before: Session, confirmed: Confirmed): Promise<Renewed> {
    const { sessions, people, settings, report } = this.parts
    const { roles, name } = people.person(before.subject, confirmed.claims)
    if (roles.length === 0) {
      report('a session has ended: the person has no role any more', undefined)
      return this.end(person, before)
    }
    const now = sessions.now()
    const next = await sessions.update(person, before.id, (session) => {
      const { renewingUntil: _, retryAt: __, ...rest } = session
      const dueAt = dueAfter(confirmed, settings, now)
      const sealed = sealTokens(this.parts.seal, session.id, confirmed.tokens)
      const next = { ...rest, roles, name, dueAt, sealed, usedAt: now }
      return { next, result: next }
    })
    return next ?? 'ended'
  }

  /** The provider is away, which says nothing of the person: the session is not ended, and is soon tried again. */
  private async goOn(
    person: string,
    before: Session,
    renewal: Renewal & { away: unknown },
  ): Promise<Renewed> {
    const { sessions, report } = this.parts
    report('the sign-in provider does not answer', renewal.away)
    const now = sessions.now()
    const next = await sessions.update(person, before.id, (session) => {
      const { renewingUntil: _, ...rest } = session
      const next = { ...rest, retryAt: now + RETRY_MS }
      return { next, result: next }
    })
    return next ?? 'ended'
  }

  private async end(person: string, { id }: Session): Promise<'ended'> {
    await this.parts.sessions.end(person, (session) => session.id === id)
    return 'ended'
  }
}

export const isDue = ({ dueAt, retryAt = 0 }: Session, now: number): boolean =>
  now >= Math.max(dueAt, retryAt)

export function dueAfter(
  { lifeMs }: Pick<Confirmed, 'lifeMs'>,
  settings: SignInSettings,
  now: number,
): number {
  return now + Math.min(lifeMs ?? settings.confirmMs, settings.confirmMs)
}

export const sealTokens = (seal: Seal, id: string, tokens: Tokens): string =>
  seal.seal('tokens', id, JSON.stringify(tokens))
