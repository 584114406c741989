import type { Clock } from '../../core/clock.js'
import { Deadlines, isUnavailable } from '../../core/deadlines.js'
import { CatracaError, invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { TokensApi } from './api.js'
import { TokenFollower } from './follower.js'
import type { Image } from './image.js'
import { checkQuestion, optionalMoment, subjectRevocation, tokenRevocation } from './input.js'
import { MAX_REVOCATIONS, type Revocation, type TokenStore } from './port.js'
import type {
  RevokedSubject,
  RevokedToken,
  SubjectStatus,
  TokenAnswer,
  TokenOptions,
  TokenQuestion,
  TokenStats,
} from './types.js'

interface TokenDependencies {
  store: TokenStore
  clock: Clock
  options: TokenOptions
  report: (message: string, error: unknown) => void
}

/** Clocks of processes differ: an entry that expired for one may still be needed by another. */
const SKEW_MS = 60_000
/** Created once, so that a check answered from memory allocates no promise. */
const YES = Promise.resolve(true)
const NO = Promise.resolve(false)

interface Asked {
  jti: string | undefined
  subject: string | undefined
  /** Minus infinity if not given: before every revocation. */
  issuedAt: number
}

/** The token denylist: was this token revoked? Answered from memory, or by the store while memory is behind. */
export class TokenDenylist implements TokensApi {
  private readonly follower: TokenFollower
  private readonly deadlines: Deadlines
  private readonly counts = { fromMemory: 0, fromStore: 0, degraded: 0, revoked: 0 }

  constructor(private readonly dependencies: TokenDependencies) {
    const { store, clock, options, report } = dependencies
    this.deadlines = new Deadlines(options.timeoutMs)
    this.follower = new TokenFollower(store, clock, options, report)
  }

  /** Starts to load all revocations into memory; otherwise the first check does. Resolves after the first attempt. */
  warmUp(): Promise<void> {
    return this.follower.start()
  }

  revoke(token: RevokedToken): Promise<void> {
    return this.write([tokenRevocation(token)])
  }

  async revokeAll(tokens: readonly RevokedToken[]): Promise<void> {
    const revocations = tokens.map((token, i) => tokenRevocation(token, `tokens[${i}].`))
    for (let from = 0; from < revocations.length; from += MAX_REVOCATIONS) {
      await this.write(revocations.slice(from, from + MAX_REVOCATIONS))
    }
  }

  revokeSubject(mark: RevokedSubject): Promise<void> {
    return this.write([subjectRevocation(mark)])
  }

  /** Throws when neither memory nor the store can answer, unless `onUnavailable` is `allow`. */
  isRevoked(question: TokenQuestion): Promise<boolean> {
    try {
      checkQuestion(question)
      const known = this.peek(question)
      if (known !== undefined) return known ? YES : NO
      return this.check(question).then(({ revoked }) => revoked)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Like `isRevoked`, without a promise. Undefined if the store must be queried, which is while memory is behind.
   * A revocation in memory is valid even then, because revocations are never undone.
   */
  peek(question: TokenQuestion): boolean | undefined {
    const fresh = this.follower.fresh()
    const image = fresh ?? this.follower.image
    if (image === undefined) return undefined
    const isRevoked = this.held(image, question)
    if (!isRevoked && fresh === undefined) return undefined
    this.counts.fromMemory++
    if (isRevoked) this.counts.revoked++
    return isRevoked
  }

  private held(image: Image, question: TokenQuestion): boolean {
    const now = this.dependencies.clock.now()
    const { jti } = question
    if (typeof jti === 'string' && question.subject === undefined && question.issuedAt === undefined) {
      return image.holds(jti, now)
    }
    const { subject, issuedAt } = asked(question)
    return (
      (jti !== undefined && image.holds(jti, now)) ||
      (subject !== undefined && image.isBefore(subject, issuedAt, now))
    )
  }

  async check(question: TokenQuestion): Promise<TokenAnswer> {
    const known = this.peek(question)
    if (known !== undefined) return { revoked: known }
    void this.follower.start()
    const { jti, subject, issuedAt } = asked(question)
    const { store, clock } = this.dependencies
    try {
      const found = await this.deadlines.within(store.find(jti, subject, clock.now()))
      this.counts.fromStore++
      const revoked = found.isRevoked || issuedAt < (found.notBefore ?? Number.NEGATIVE_INFINITY)
      if (revoked) this.counts.revoked++
      return { revoked }
    } catch (error) {
      return this.unavailable(error)
    }
  }

  /** The state of a subject, read from the store. Throws when the store does not answer: a guess would be useless. */
  async subject(subject: string): Promise<SubjectStatus> {
    const { store, clock } = this.dependencies
    const found = await this.deadlines.within(
      store.find(undefined, identifier('subject', subject), clock.now()),
    )
    const { notBefore, markExpiresAt } = found
    if (notBefore === undefined || markExpiresAt === undefined) return { revoked: false }
    return { revoked: true, notBefore: iso(notBefore), expiresAt: iso(markExpiresAt) }
  }

  stats(): TokenStats {
    const image = this.follower.image
    const figures = image?.figures ?? { tokens: 0, subjects: 0, bytes: 0 }
    const { lagMs } = this.follower
    return { ...figures, isFresh: this.follower.isFresh, lagMs, ...this.counts }
  }

  sweep(now: number): Promise<{ more: boolean }> {
    return this.dependencies.store.sweep(now - SKEW_MS)
  }

  close(): Promise<void> {
    return this.follower.close()
  }

  /** Drops tokens that have expired by every process's clock: they need no revocation. */
  private async write(given: readonly Revocation[]): Promise<void> {
    const { store, clock } = this.dependencies
    const now = clock.now()
    const revocations = merged(given.filter(({ expiresAt }) => expiresAt > now - SKEW_MS))
    if (revocations.length === 0) return
    this.checkRoom(revocations, now)
    await store.revoke(revocations, now)
    this.follower.apply(revocations)
  }

  /**
   * Counts what this process has in memory, which costs no call. The store may hold some more: other processes write
   * at the same time, and before memory is loaded nothing is counted.
   */
  private checkRoom(revocations: readonly Revocation[], now: number): void {
    const { image } = this.follower
    const { maxEntries } = this.dependencies.options
    if (image === undefined) return
    const { tokens, subjects } = image.figures
    const room = maxEntries - tokens - subjects
    if (revocations.length <= room) return
    const added = revocations.filter((one) => !image.has(one, now)).length
    if (added > room)
      throw new CatracaError(
        'STORE_FULL',
        `there are ${maxEntries} revocations (tokens.maxEntries) that have not expired`,
      )
  }

  private unavailable(error: unknown): TokenAnswer {
    if (!isUnavailable(error)) throw error
    if (this.dependencies.options.onUnavailable === 'block') {
      const message = 'it is not known whether the token was revoked, and tokens.onUnavailable is block'
      throw new CatracaError('ENGINE_UNAVAILABLE', message, { cause: error, facts: { degraded: true } })
    }
    this.counts.degraded++
    return { revoked: false, degraded: true }
  }
}

const iso = (ms: number): string => new Date(ms).toISOString()

function asked({ jti, subject, issuedAt }: TokenQuestion): Asked {
  if (jti === undefined && subject === undefined)
    throw invalid('jti', 'is required where there is no subject')
  if (issuedAt !== undefined && subject === undefined) throw invalid('subject', 'is required with issuedAt')
  return {
    jti: jti === undefined ? undefined : identifier('jti', jti),
    subject: subject === undefined ? undefined : identifier('subject', subject),
    issuedAt: optionalMoment('issuedAt', issuedAt) ?? Number.NEGATIVE_INFINITY,
  }
}

/** One revocation per id, with the latest expiry. */
function merged(revocations: readonly Revocation[]): Revocation[] {
  const byId = new Map<string, Revocation>()
  for (const one of revocations) {
    const known = byId.get(one.id)
    if (known === undefined || known.expiresAt < one.expiresAt) byId.set(one.id, one)
  }
  return [...byId.values()]
}
