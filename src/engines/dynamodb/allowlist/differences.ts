import { readCustomerKey } from '../../../guards/allowlist/customer-key.js'
import { type Item, number, numberOf, optionalBytes } from '../client/attributes.js'
import { differencesKey } from './items.js'

/** The customers that a replace changed, logged one by one instead of a reset. */
export interface Differences {
  /** The generation that checks saw before the switch. */
  previous: number
  customers: string[]
}

/** Above this size, differences are not logged one by one. */
export const MAX_DIFFERENCE_BYTES = 330 * 1024

/**
 * An item to be stored before the switch to `generation`. `packed`: for each customer the length of its key less one,
 * in a byte, and the key (customer-key.ts).
 */
export function encodeDifferences(
  listId: string,
  generation: number,
  previous: number,
  packed: Uint8Array,
): Item {
  return { ...differencesKey(listId, generation), previous: number(previous), customers: { B: packed } }
}

export function readDifferences(item: Item | undefined): Differences | undefined {
  const packed = item && optionalBytes(item, 'customers')
  if (packed === undefined) return undefined
  const customers: string[] = []
  for (let at = 0; at < packed.length; ) {
    const start = at + 1
    at = start + packed[at]! + 1
    customers.push(readCustomerKey(packed, start, at))
  }
  return { previous: numberOf(item!, 'previous'), customers }
}
