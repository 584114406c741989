import type { CheckedList } from '../port.js'
import type { AllowlistType, CheckReason, CheckResult } from '../types.js'
import { strategyOf } from '../wave/strategies.js'

/*
 * A list or a wave as a boolean feature flag, in the words of OpenFeature. The HTTP API (OFREP) and the provider of
 * `catraca/openfeature` both give what is made here.
 */

/**
 * Why a flag has its value. `TARGETING_MATCH`: by who the customer is. `SPLIT`: by the customer's place in a percentage.
 * `STATIC`: the same for all customers now. `DISABLED`: the wave is paused. `STALE`: the store did not answer.
 */
export const FLAG_REASONS = ['TARGETING_MATCH', 'SPLIT', 'STATIC', 'DISABLED', 'STALE'] as const
export type FlagReason = (typeof FLAG_REASONS)[number]

/** Names and flat values, as OpenFeature demands of metadata. */
export type FlagMetadata = {
  type: AllowlistType
  /** The reason of the check. */
  checkReason: CheckReason
  /** Counts changes of the name and the rule of the list. */
  listVersion: number
  /** In the context of a later evaluation, here or elsewhere: it sees at least what this one saw. */
  catracaAtLeast?: string
  degraded?: true
  /** Of a degraded value that memory gave: when memory was last known to be right. Not in bulk evaluations. */
  asOf?: string
}

export interface Flag {
  /** The id of the list. */
  key: string
  value: boolean
  variant: 'on' | 'off'
  reason: FlagReason
  metadata: FlagMetadata
}

export const FLAG_ERRORS = [
  'FLAG_NOT_FOUND',
  'TARGETING_KEY_MISSING',
  'INVALID_CONTEXT',
  'PARSE_ERROR',
  'GENERAL',
] as const
export type FlagErrorCode = (typeof FLAG_ERRORS)[number]

export interface FlagFailure {
  key: string
  errorCode: FlagErrorCode
  errorDetails: string
}

export type FlagAnswer = Flag | FlagFailure

export const isFlagFailure = (answer: FlagAnswer): answer is FlagFailure => 'errorCode' in answer

export const flagNotFound = (key: string): FlagFailure => ({
  key,
  errorCode: 'FLAG_NOT_FOUND',
  errorDetails: 'there is no allowlist with this id',
})

/** `list` is undefined if it was deleted, or became unreadable, after the check. */
export function flagOf(
  key: string,
  result: CheckResult,
  list: CheckedList | undefined,
  token?: string,
): FlagAnswer {
  const { allowed: value, reason: checkReason } = result
  if (checkReason === 'ALLOWLIST_NOT_FOUND') return flagNotFound(key)
  if (checkReason === 'ALLOWLIST_UNREADABLE') {
    return { key, errorCode: 'GENERAL', errorDetails: 'the stored record of the allowlist cannot be read' }
  }
  if (list === undefined) {
    if (result.degraded === undefined) return flagNotFound(key)
    return { key, errorCode: 'GENERAL', errorDetails: 'the store does not answer' }
  }
  const metadata: FlagMetadata = { type: list.type, checkReason, listVersion: list.version }
  if (token !== undefined) metadata.catracaAtLeast = token
  if (result.degraded) metadata.degraded = true
  if (result.asOf !== undefined) metadata.asOf = result.asOf
  return { key, value, variant: value ? 'on' : 'off', reason: reasonOf(result, list), metadata }
}

function reasonOf({ degraded, reason }: CheckResult, { type, config }: CheckedList): FlagReason {
  if (degraded) return 'STALE'
  if (type === 'FIXA' || config === undefined) return 'TARGETING_MATCH'
  if (config.paused !== undefined) return 'DISABLED'
  if (reason === 'OUTSIDE_WINDOW') return 'STATIC'
  if (reason === 'EXCLUDED') return 'TARGETING_MATCH'
  const own = strategyOf(config)?.flagReason ?? 'STATIC'
  // Who the customer is decides also where the strategy itself treats all alike.
  const isTargeted = config.base !== undefined || config.exclude !== undefined
  return own === 'STATIC' && isTargeted ? 'TARGETING_MATCH' : own
}
