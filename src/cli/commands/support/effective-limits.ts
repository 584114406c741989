import { isCatracaError } from '../../../core/errors.js'
import type { ConfigAddress, ListedConfig } from '../../../guards/rate-limit/api.js'
import type { Capped, EffectiveLimit, ResolvedConfig } from '../../../guards/rate-limit/types.js'
import { pick, printTable } from '../../output/print.js'
import { allItems } from './session.js'
import type { Target } from './target.js'

/** Configurations that are resolved at the same time. */
const AT_ONCE = 8

/** A number that takes effect lower than its level states it. */
interface CappedNumber {
  identifier?: string | undefined
  resource: string
  limit: string
  field: 'burst' | 'refillAmount'
  stated: number
  effective: number
  /** The level whose capacity caps it. */
  by: string
}

/** The effective limits after a change of a level; undefined while no level completes them. */
export async function effectiveOf(
  limits: Target['limits'],
  { level, entity, identifier, resource }: ConfigAddress,
): Promise<ResolvedConfig | undefined> {
  try {
    return await limits.resolveConfig(level === 'entity' ? (entity ?? identifier) : undefined, resource)
  } catch (error) {
    if (isCatracaError(error, 'LIMIT_INCOMPLETE') || isCatracaError(error, 'LIMIT_NOT_CONFIGURED')) return
    throw error
  }
}

export function printResolved(resolved: ResolvedConfig): void {
  const { limits, levels, onUnavailable, autoUpdate, strictVersion } = resolved
  const rows = Object.entries(limits).flatMap(([name, limit]) =>
    Object.entries(limit).map(([field, value]) => [
      `${name}.${field}`,
      String(value),
      sourceOf(resolved, name, field as keyof EffectiveLimit),
    ]),
  )
  printTable(
    ['FIELD', 'VALUE', 'FROM'],
    [
      ...rows,
      ['onUnavailable', onUnavailable, levels.onUnavailable],
      ['autoUpdate', String(autoUpdate), levels.autoUpdate],
      ['strictVersion', String(strictVersion), levels.strictVersion],
    ],
  )
}

function sourceOf({ levels, capped }: ResolvedConfig, name: string, field: keyof EffectiveLimit): string {
  const level = levels.limits[name]![field]
  const cap = (capped?.[name] as Record<string, Capped> | undefined)?.[field]
  return cap === undefined ? level : `${level} (${cap.stated}, capped by ${cap.by})`
}

/** Every stored configuration in which an inherited number is capped. */
export async function cappedNumbers(limits: Target['limits']): Promise<CappedNumber[]> {
  const found: CappedNumber[] = []
  let part: ListedConfig[] = []
  const resolve = async () => {
    found.push(...(await Promise.all(part.map((one) => cappedOf(limits, one)))).flat())
    part = []
  }
  for (const level of ['resource', 'entity'] as const) {
    for await (const config of allItems((page) => limits.listConfigs({ level, ...page }))) {
      if (part.push(config) === AT_ONCE) await resolve()
    }
  }
  await resolve()
  return found
}

async function cappedOf(limits: Target['limits'], config: ListedConfig): Promise<CappedNumber[]> {
  const resolved = await effectiveOf(limits, config)
  return Object.entries(resolved?.capped ?? {}).flatMap(([limit, fields]) =>
    Object.entries(fields).map(([name, { stated, by }]) => {
      const field = name as CappedNumber['field']
      const effective = resolved!.limits[limit]![field]
      return { ...pick(config, ['identifier', 'resource']), limit, field, stated, effective, by }
    }),
  )
}
