import { CatracaError, isCatracaError } from '../../../core/errors.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import type { Item } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { Deadline } from '../client/deadline.js'
import type { SdkFailure } from '../client/failures.js'
import { subjectKey } from './keys.js'
import { type CachedSubject, readKnown } from './limit-state.js'

/** Shared by all parts of rate limits. */
export interface LimitTable {
  readonly client: DynamoClient
  /** The table for guards. */
  readonly table: string
  /** A call that keeps conflicting with others fails after this time. */
  readonly timeoutMs: number
}

export const TTL_MARGIN_SECONDS = 300
/** When TTL may delete an expired item. The content decides, so later is fine. */
export const ttlOf = (endsAt: number): number => Math.ceil(endsAt / 1000) + TTL_MARGIN_SECONDS

export async function readSubject({ client, table }: LimitTable, subject: Subject): Promise<CachedSubject> {
  return readKnown(await client.readItem('limit.look', table, subjectKey(subject)))
}

export async function readSubjects(
  { client, table }: LimitTable,
  subjects: readonly Subject[],
): Promise<CachedSubject[]> {
  const keys = subjects.map(subjectKey)
  const items = await client.batchGetItem('limit.look', { table, keys, consistent: true })
  const found = new Map<string | undefined, Item>(items.map((item) => [item.PK?.S, item]))
  return keys.map(({ PK }) => readKnown(found.get(PK.S)))
}

/** In steps of a deadline's pauses. A refused call knows more for its next attempt, so it need not wait for long. */
const LONGEST_PAUSE = 2

/** Tries until there is a result: the second time at once, then with jitter. */
export async function retryUntilDone<T>(
  { timeoutMs }: LimitTable,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = new Deadline(timeoutMs, Math.random)
  try {
    for (let count = 0; ; count++) {
      const result = await attempt()
      if (result !== undefined) return result
      if (count > 0 && !(await deadline.pause(Math.min(count - 1, LONGEST_PAUSE)))) break
    }
  } catch (error) {
    throw isTooLarge(error) ? tooLarge(error) : error
  } finally {
    deadline.end()
  }
  throw new CatracaError(
    'ENGINE_UNAVAILABLE',
    'other callers kept changing the same limits until the timeout',
  )
}

function isTooLarge(error: unknown): boolean {
  if (!isCatracaError(error, 'INTERNAL')) return false
  const { name, message } = (error.cause ?? {}) as Partial<SdkFailure>
  return name === 'ValidationException' && /item size/i.test(message ?? '')
}

function tooLarge(cause: unknown): CatracaError {
  const message =
    'the limits of a subject are larger than an item of DynamoDB: use the algorithm sliding-window-counter'
  return new CatracaError('STORE_FULL', message, { cause })
}
