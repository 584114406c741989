import fc from 'fast-check'
import { isCatracaError } from '../../src/core/errors.js'
import type { Allowlists } from '../../src/guards/allowlist/index.js'
import type { WaveConfig } from '../../src/guards/allowlist/types.js'

/** Any lists and waves over each other, for properties of checks. */
export const NOW = Date.UTC(2030, 0, 1)
export const CUSTOMERS = ['ann', 'bob', 'cid', 'dan', 'eve']

/** A list with an index, with changes behind it, one member who expired, and one whom a wave may rest on. */
export async function fill(allowlists: Allowlists, precision: 'exact' | 'trusted' = 'exact') {
  await allowlists.create({ id: precision, name: precision, type: 'FIXA', precision })
  for (const id of ['ann', 'bob']) await allowlists.add(precision, id)
  await allowlists.rebuild(precision)
  await allowlists.add(precision, 'cid')
  await allowlists.remove(precision, 'bob')
  if (precision === 'exact') {
    await allowlists.add('exact', 'dan', { expiresAt: new Date(NOW + 1000).toISOString() })
  }
}

const lists = fc.constantFrom('exact', 'trusted', 'unindexed')
export const waveConfigs = fc.record(
  {
    strategy: fc.constantFrom('PERCENTAGE', 'TIME_WINDOW', 'EXPLICIT_LIST'),
    percentage: fc.constantFrom(0, 0.2, 0.5, 1),
    customerIds: fc.subarray(CUSTOMERS),
    startTime: fc.constantFrom(NOW - 1, NOW, NOW + 1),
    endTime: fc.constantFrom(NOW + 5000, NOW + 6000),
    ramp: fc.constantFrom([{ at: NOW - 5, percentage: 0.5 }], [{ at: NOW + 5, percentage: 1 }]),
    base: lists,
    exclude: fc.uniqueArray(lists, { maxLength: 3 }),
  },
  { requiredKeys: ['strategy'] },
)

/** Waves over each other: each may rest on the one before it instead of on a list. */
export async function waves(allowlists: Allowlists, prefix: string, configs: object[]): Promise<string[]> {
  const ids: string[] = []
  for (const [i, given] of configs.entries()) {
    const config = { ...given } as WaveConfig
    if (config.strategy !== 'EXPLICIT_LIST') delete config.customerIds
    else config.customerIds ??= ['ann']
    if (config.strategy !== 'PERCENTAGE') {
      delete config.percentage
      delete config.ramp
    } else config.percentage ??= 0.5
    if (config.strategy === 'TIME_WINDOW') config.startTime ??= NOW
    if (i % 2 === 1 && ids.length > 0) config.base = ids.at(-1)!
    const id = `${prefix}${i}`
    const created = await allowlists.create({ id, name: id, type: 'ONDA', config }).then(
      () => true,
      (error) => (isCatracaError(error, 'INVALID_INPUT') ? false : Promise.reject(error)),
    )
    if (created) ids.push(id)
  }
  return ids
}
