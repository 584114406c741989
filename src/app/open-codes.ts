import type { Clock } from '../core/clock.js'
import { CatracaError, isCatracaError } from '../core/errors.js'
import type { Engine } from '../engines/engine.js'
import { OneTimeCodes } from '../guards/one-time-code/index.js'
import { type CodeOptions, codeOptions } from '../guards/one-time-code/options.js'
import type { PepperSource } from '../guards/one-time-code/pepper.js'
import type { CodeStore } from '../guards/one-time-code/port.js'
import type { LimitStore } from '../guards/rate-limit/port.js'

/** A secret, or a function that reads it each time it is needed. */
export type PepperOption = string | (() => string | undefined)

export interface OpenCodesOptions extends Partial<CodeOptions> {
  /** A store URL, if codes are in another store than the rest. Their counters are in the store of the rate limits. */
  store?: string
  /** The secret of the hashes. If absent, an embedded store makes and stores one; any other store requires it. */
  pepper?: PepperOption
  /** The previous secret: codes issued under it still work. */
  previousPepper?: PepperOption
  /** Fail to open if codes could not be used. Implied by `store`. */
  required?: boolean
}

interface Surroundings {
  store: CodeStore
  /** Counters of the rate limits. */
  counters: LimitStore
  clock: Clock
  report: (message: string, error: unknown) => void
}

const PEPPER_FILE = 'otp-pepper'
const SHORT = 16

/** One-time codes, with the counters of the rate-limit engine. */
export function openCodes(
  options: OpenCodesOptions,
  engine: Engine,
  { report, ...around }: Surroundings,
): OneTimeCodes {
  const { store, pepper: given, previousPepper, required = store !== undefined, ...others } = options
  const pepper = pepperOf(given, previousPepper, engine)
  if (required) requirePepper(pepper)
  const known = read(given)
  if (known !== undefined && known.length < SHORT) {
    report(
      `CATRACA_OTP_PEPPER has fewer than ${SHORT} characters: an attacker who has the store could guess it`,
      undefined,
    )
  }
  return new OneTimeCodes({ ...around, pepper, options: codeOptions(others) })
}

function pepperOf(
  given: PepperOption | undefined,
  previous: PepperOption | undefined,
  engine: Engine,
): PepperSource {
  let kept: string | undefined
  return {
    current: () => read(given) ?? (kept ??= engine.keptSecret?.(PEPPER_FILE)) ?? noPepper(engine.name),
    previous: () => read(previous),
    first: read(given),
  }
}

const read = (option: PepperOption | undefined): string | undefined =>
  (typeof option === 'function' ? option() : option) || undefined

/** At startup a missing pepper is a configuration error; at a call it means that codes are not set up. */
function requirePepper(pepper: PepperSource): void {
  try {
    pepper.current()
  } catch (error) {
    if (!isCatracaError(error, 'CODES_NOT_SET_UP')) throw error
    throw new CatracaError('CONFIG_INVALID', error.message)
  }
}

function noPepper(name: string): never {
  throw new CatracaError(
    'CODES_NOT_SET_UP',
    `CATRACA_OTP_PEPPER (or CATRACA_OTP_PEPPER_FILE) is needed for one-time codes in ${name}: a long random text, the same for all processes`,
  )
}
