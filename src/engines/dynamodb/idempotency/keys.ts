import type { RecordKey } from '../../../guards/idempotency/types.js'
import { type Item, text } from '../client/attributes.js'

/** No identifier contains `#` or `%`, so none can forge another's. */
export const partitionOf = ({ operation, key }: RecordKey): string =>
  `${operation.replaceAll(':', '%3A')}#${key}`
/** The inverse; undefined for keys of another form. */
export function readPartition(pk: string): RecordKey | undefined {
  const split = pk.indexOf('#')
  return split < 0
    ? undefined
    : { operation: pk.slice(0, split).replaceAll('%3A', ':'), key: pk.slice(split + 1) }
}
export const keyOf = (key: RecordKey): Item => ({ pk: text(partitionOf(key)) })

/** Equal length for all years up to 9999, so that DynamoDB can compare them as text. */
export const moment = (ms: number): string => new Date(ms).toISOString()

/** Whole seconds, and never before the record expires. */
export const ttlOf = (expiresAt: number): number => Math.ceil(expiresAt / 1000)
