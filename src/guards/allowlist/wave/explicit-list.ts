import { identifier, isUuid } from '../../../core/identifiers.js'
import { readArray, readBy } from './field.js'
import type { Strategy } from './strategy.js'

export interface ExplicitListFields {
  /** At most 5,000. */
  customerIds?: string[]
}

export const MAX_WAVE_CUSTOMERS = 5_000

/** Named customers. */
export const explicitList: Strategy<ExplicitListFields, 'explicit'> = {
  fields: {
    customerIds: {
      schema: { type: 'array', items: { type: 'string' }, description: 'At most 5,000' },
      read(path, value, fail) {
        const ids = readArray(path, value, MAX_WAVE_CUSTOMERS, fail, readBy(identifier))
        return ids && [...new Set(ids)]
      },
      option: ['--customers <ids>', 'list', 'customers that may pass, separated by commas'],
      describe: (ids) => [`${ids.length} customers`],
    },
  },
  missing: (given) => (given.has('customerIds') ? undefined : ['customerIds', 'is required']),
  compile({ customerIds }) {
    const ids = new Set((customerIds ?? []).map((id) => (isUuid(id) ? id.toLowerCase() : id)))
    return { admits: (customerId) => ids.has(customerId) }
  },
  step: 'explicit',
  facts: {},
  shareAt: () => 1,
  turns: () => [],
  flagReason: 'TARGETING_MATCH',
}
