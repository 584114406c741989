import { randomBytes, randomInt } from 'node:crypto'
import { type Clock, isoTime } from '../../core/clock.js'
import { Deadlines } from '../../core/deadlines.js'
import { CatracaError } from '../../core/errors.js'
import { NamedCounts } from '../../core/figures.js'
import type { LimitStore } from '../rate-limit/port.js'
import { codeKey, typedCode } from './address.js'
import type { CodesApi } from './api.js'
import { CodeLimits, type Held } from './code-limits.js'
import type { CodeOptions } from './options.js'
import { Pepper, type PepperSource } from './pepper.js'
import type { AttemptOutcome, CodeKey, CodeStore } from './port.js'
import { CHANNELS, type CodeAddress, type CodeStatus, type IssueAnswer, type VerifyAnswer } from './types.js'

export interface CodeDependencies {
  store: CodeStore
  counters: LimitStore
  pepper: PepperSource
  clock: Clock
  options: CodeOptions
}

export interface CodeCounts {
  issued: number
  issueDenied: number
  valid: number
  invalid: number
  locked: number
}

const OUTCOMES = ['issued', 'refused', 'valid', 'invalid', 'locked'] as const

const SALT_BYTES = 16
/** A code that is replaced between two questions about it is asked for again, so often. */
const TRIES = 5

/** One-time codes: is this the code that was sent? An engine that cannot tell lets nobody pass. */
export class OneTimeCodes implements CodesApi {
  private readonly counts: CodeCounts = { issued: 0, issueDenied: 0, valid: 0, invalid: 0, locked: 0 }
  /** What became of requests, by channel. */
  readonly outcomes = new NamedCounts(OUTCOMES)
  private readonly deadlines: Deadlines
  private readonly limits: CodeLimits
  private readonly pepper: Pepper

  constructor(private readonly dependencies: CodeDependencies) {
    const { counters, pepper, clock, options } = dependencies
    this.deadlines = new Deadlines(options.timeoutMs)
    this.limits = new CodeLimits(counters, options, (work) => this.deadlines.within(work))
    this.pepper = new Pepper(pepper, clock, Math.max(...Object.values(options.lifeMs)))
    for (const channel of CHANNELS) this.outcomes.of(channel)
  }

  /** A new code in the place of the one before. That it is asked for too often, or that the address is locked, is an answer. */
  async issue(request: CodeAddress): Promise<IssueAnswer> {
    const key = codeKey(request)
    const now = this.dependencies.clock.now()
    const admission = await this.limits.takeIssue(this.pepper.entity(key), now)
    if (!('held' in admission)) {
      this.counts.issueDenied++
      this.outcomes.of(key.channel).refused++
      return { issued: false, ...admission }
    }
    const { options } = this.dependencies
    const code = randomCode(options.digits)
    const salt = randomBytes(SALT_BYTES).toString('base64url')
    const digest = this.pepper.digest(key, code, salt)
    const expiresAt = await this.put(
      key,
      { salt, digest, lifeMs: options.lifeMs[key.channel] },
      admission.held,
    )
    this.counts.issued++
    this.outcomes.of(key.channel).issued++
    return { issued: true, code, expiresAt: isoTime(expiresAt) }
  }

  private async put(key: CodeKey, code: Parameters<CodeStore['put']>[1], held: Held): Promise<number> {
    const { store, clock } = this.dependencies
    try {
      return (await this.deadlines.within(store.put(key, code, clock.now()))).expiresAt
    } catch (error) {
      // Nobody gets this code, so it should not stand in the way of the next one.
      await this.limits.giveBack(held, clock.now()).catch(() => {})
      throw error
    }
  }

  /**
   * The same steps whether there is a code or not: the failure is taken, one hash is made, one attempt is asked for.
   * Only the right code differs, used or not, which gives the failure back.
   */
  async verify(request: CodeAddress & { code: string }): Promise<VerifyAnswer> {
    const key = codeKey(request)
    const code = typedCode(request.code)
    const { store, clock } = this.dependencies
    const [admission, salt] = await Promise.all([
      this.limits.takeGuess(this.pepper.entity(key), clock.now()),
      this.deadlines.within(store.salt(key, clock.now())),
    ])
    if (!('held' in admission)) {
      this.counts.locked++
      this.outcomes.of(key.channel).locked++
      return { valid: false, reason: 'LOCKED' }
    }
    const outcome = await this.attempt(key, code, salt)
    if (outcome === 'match') {
      this.counts.valid++
      this.outcomes.of(key.channel).valid++
      // The code is used: whoever has it may pass, also when this cannot be noted.
      await this.limits.giveBack(admission.held, clock.now()).catch(() => {})
      return { valid: true }
    }
    this.counts.invalid++
    this.outcomes.of(key.channel).invalid++
    if (outcome === 'used') await this.limits.giveBack(admission.held, clock.now()).catch(() => {})
    else if (admission.isLast) await this.limits.lockUp(admission.held, clock.now())
    return { valid: false, reason: 'INVALID' }
  }

  private async attempt(key: CodeKey, code: string, found: string | undefined): Promise<AttemptOutcome> {
    const { store, clock, options } = this.dependencies
    let known = found
    for (let tries = 1; tries <= TRIES; tries++) {
      // Also without a code a hash is made and an attempt asked for, and also with one a salt is drawn: nobody learns
      // by the time whether there is one.
      const drawn = randomBytes(SALT_BYTES).toString('base64url')
      const salt = known ?? drawn
      const digests = this.pepper.digests(key, code, salt)
      const attempt = { salt, digests, maxAttempts: options.maxAttempts }
      const outcome = await this.deadlines.change(store.attempt(key, attempt, clock.now()))
      if (outcome !== 'replaced') return outcome
      known = await this.deadlines.within(store.salt(key, clock.now()))
    }
    throw new CatracaError(
      'ENGINE_UNAVAILABLE',
      'the code was replaced repeatedly while it was being verified',
    )
  }

  /** What stands for an address, for those who help its owner; nothing that a code could be found by. */
  async status(request: CodeAddress): Promise<CodeStatus> {
    const key = codeKey(request)
    const { store, clock, options } = this.dependencies
    const [code, { failures, lockedUntil }] = await Promise.all([
      this.deadlines.within(store.peek(key, clock.now())),
      this.limits.look(this.pepper.entity(key), clock.now()),
    ])
    const isPending = code !== undefined && code.attempts < options.maxAttempts
    return {
      pending: isPending,
      ...(isPending && { expiresAt: isoTime(code.expiresAt) }),
      failures,
      ...(lockedUntil !== undefined && { lockedUntil: isoTime(lockedUntil) }),
    }
  }

  /** The code in place no longer works, and the lock is lifted; false when there was neither code nor failure. */
  async revoke(request: CodeAddress): Promise<{ revoked: boolean }> {
    const key = codeKey(request)
    const { store, clock } = this.dependencies
    const hadCode = await this.deadlines.change(store.revoke(key, clock.now()))
    const hadFailures = await this.limits.unlock(this.pepper.entity(key))
    return { revoked: hadCode || hadFailures }
  }

  /** Stands for an address and purpose where the address itself must not be written. */
  standIn(request: CodeAddress): string {
    return this.pepper.entity(codeKey(request))
  }

  stats(): CodeCounts {
    return { ...this.counts }
  }

  sweep(now: number): Promise<{ more: boolean }> {
    return this.dependencies.store.sweep(now)
  }
}

const randomCode = (digits: number): string => String(randomInt(0, 10 ** digits)).padStart(digits, '0')
