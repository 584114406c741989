import { invalid } from '../core/errors.js'
import { DYNAMODB_PROFILE_NAMES, DYNAMODB_PROFILES } from '../engines/dynamodb/defaults.js'
import { storeUrlOf } from '../engines/registry.js'
import type { OpenOptions } from './open-options.js'

/** The options, with the defaults of the profile where they say nothing. */
export function withProfile<O extends OpenOptions>(options: O, store: string | undefined): O {
  const { profile = 'default', ...dynamodb } = options.dynamodb ?? {}
  if (!DYNAMODB_PROFILE_NAMES.includes(profile)) {
    throw invalid('dynamodb.profile', `must be one of ${DYNAMODB_PROFILE_NAMES.join(', ')}`)
  }
  if (profile === 'default') return { ...options, dynamodb }
  if (store === undefined || storeUrlOf('dynamodb', store) === undefined) return { ...options, dynamodb }
  const { logBatchMs: _, ...defaults }: { logBatchMs?: number } & object = DYNAMODB_PROFILES[profile].dynamodb
  return {
    ...options,
    dynamodb: { ...defaults, ...dynamodb },
    membership: { ...DYNAMODB_PROFILES[profile].membership, ...options.membership },
  }
}
