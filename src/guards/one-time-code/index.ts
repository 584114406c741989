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

interface CodeDependencies {
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
/** How often `verify` retries when the code is replaced while it is verified. */
const TRIES = 5

/** One-time codes: is this the code that was issued? If the engine cannot answer, no code is accepted. */
export class OneTimeCodes implements CodesApi {
  private readonly counts: CodeCounts = { issued: 0, issueDenied: 0, valid: 0, invalid: 0, locked: 0 }
  /** Outcomes of requests, by channel. */
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

  /**
   * Issues a new code, which replaces the previous one. Too many issues, or a locked
   * address, is a result, not an error.
   */
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
      // No caller gets this code, so it should not count against the next one.
      await this.limits.giveBack(held, clock.now()).catch(() => {})
      throw error
    }
  }

  /**
   * Runs the same steps whether or not there is a code: count a failure, compute one hash, make one attempt. Only
   * the right code differs, used or not: it gives the failure back.
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
      // The code was used, so its owner passes even if the failure cannot be given back.
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
      // Without a code, still compute a hash and make an attempt. With a code, still draw a salt. So the response
      // time does not reveal whether there is a code.
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

  /** The state of an address, for support staff. Reveals nothing about the code. */
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

  /** Makes the current code invalid and lifts the lock. False if there was neither a code nor a failure. */
  async revoke(request: CodeAddress): Promise<{ revoked: boolean }> {
    const key = codeKey(request)
    const { store, clock } = this.dependencies
    const hadCode = await this.deadlines.change(store.revoke(key, clock.now()))
    const hadFailures = await this.limits.unlock(this.pepper.entity(key))
    return { revoked: hadCode || hadFailures }
  }

  /** An identifier for an address and purpose, where the address itself must not be written. */
  addressHash(request: CodeAddress): string {
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
