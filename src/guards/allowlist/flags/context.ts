import { encodeIdentifier } from '../../../core/encode-identifier.js'
import { isCatracaError } from '../../../core/errors.js'
import { identifier } from '../../../core/identifiers.js'
import type { CheckOptions } from '../types.js'
import type { FlagErrorCode } from './flag.js'

/** What an evaluation reads of its context. */
export interface FlagContext {
  /** The targeting key, encoded as every adapter encodes ids of other systems. */
  customerId: string
  options: CheckOptions | undefined
}

/** The context cannot be used. Flags have no other reason to refuse one: all its other fields are ignored. */
export class WrongContext extends Error {
  override readonly name = 'WrongContext'

  constructor(
    readonly errorCode: Extract<FlagErrorCode, 'TARGETING_KEY_MISSING' | 'INVALID_CONTEXT'>,
    message: string,
  ) {
    super(message)
  }
}

/** Throws `WrongContext`. */
export function parseContext(context: unknown): FlagContext {
  if (context === undefined || context === null) {
    throw new WrongContext('TARGETING_KEY_MISSING', 'the context has no targetingKey: the customer')
  }
  if (typeof context !== 'object' || Array.isArray(context)) {
    throw new WrongContext('INVALID_CONTEXT', 'the context must be an object')
  }
  const { targetingKey, catracaAtLeast } = context as Record<string, unknown>
  if (targetingKey === undefined || targetingKey === null || targetingKey === '') {
    throw new WrongContext('TARGETING_KEY_MISSING', 'the context has no targetingKey: the customer')
  }
  if (catracaAtLeast !== undefined && typeof catracaAtLeast !== 'string') {
    throw new WrongContext('INVALID_CONTEXT', 'catracaAtLeast must be a token')
  }
  return {
    customerId: customerOf(targetingKey),
    options: catracaAtLeast === undefined ? undefined : { atLeast: catracaAtLeast },
  }
}

function customerOf(targetingKey: unknown): string {
  try {
    return identifier('targetingKey', encodeIdentifier(targetingKey as string, 'targetingKey'))
  } catch (error) {
    throw asWrongContext(error)
  }
}

/** What the library refuses of a context, such as a token of another store. */
export function asWrongContext(error: unknown): unknown {
  return isCatracaError(error, 'INVALID_INPUT')
    ? new WrongContext('INVALID_CONTEXT', error.message.replace(/^atLeast/, 'catracaAtLeast'))
    : error
}
