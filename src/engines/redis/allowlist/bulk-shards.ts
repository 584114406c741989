import { setTimeout as pause } from 'node:timers/promises'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import type { BulkContext } from './bulk-context.js'
import type { RedisList } from './meta.js'

const ATTEMPTS = 6
const FIRST_PAUSE_MS = 50

/** Whether the same call may succeed in a moment. Only for steps that can be repeated without harm. */
export const isPassing = (error: unknown): boolean =>
  isCatracaError(error, 'UNKNOWN_OUTCOME') || isCatracaError(error, 'ENGINE_UNAVAILABLE')

export const pauseBefore = (attempt: number): Promise<void> =>
  pause(FIRST_PAUSE_MS * 2 ** Math.min(attempt, 5) * (0.5 + Math.random() / 2))

/** Repeats a step whose outcome is unknown, a limited number of times. The step must be harmless when repeated. */
export async function again<T>(step: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await step()
    } catch (error) {
      if (!isPassing(error) || attempt === ATTEMPTS) throw error
      await pauseBefore(attempt)
    }
  }
}

/** How often an operation is tried whose shards are not in the required state. */
export const ROUNDS = 40
const QUICK_ROUNDS = 3

/**
 * Shards refused because they are behind their list, deleted or frozen. Repairs them, so that the caller can try
 * again.
 */
export async function repairShards(
  context: BulkContext,
  list: RedisList,
  refusal: 'gone' | 'stale' | 'frozen',
  round: number,
): Promise<void> {
  const { shards } = context
  if (refusal === 'frozen') await shards.mending?.thaw(list, 0)
  else await Promise.all(shards.all(list).map(({ shard }) => shards.settled(list, shard, refusal)))
  if (round >= QUICK_ROUNDS || refusal === 'frozen') await pauseBefore(Math.min(round, 2))
}

export const neverReady = (listId: string): CatracaError =>
  new CatracaError('ENGINE_UNAVAILABLE', `the shards of ${listId} are being changed for too long`)
