import type { EntityUse, LimitUse, UsageHour } from './port.js'

/** An hour may hold this many times the wanted number of entities before those with the lowest use are removed. */
const SLACK = 2

const weightOf = ({ admitted, denied }: LimitUse): number => admitted + denied

/** The entities with the highest cost, admitted plus denied, highest first. Ties are sorted by name. */
export function heaviest(uses: readonly EntityUse[], most: number): string[] {
  const weights = new Map<string, number>()
  for (const use of uses) weights.set(use.entity, (weights.get(use.entity) ?? 0) + weightOf(use))
  return [...weights]
    .sort(([a, of], [b, than]) => than - of || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([entity]) => entity)
}

/** The entities to remove from an hour. None while it holds at most twice the wanted number. */
export function surplusOf(uses: readonly EntityUse[], most: number): EntityUse[] {
  if (new Set(uses.map(({ entity }) => entity)).size <= SLACK * most) return []
  const kept = new Set(heaviest(uses, most))
  return uses.filter(({ entity }) => !kept.has(entity))
}

/** Sums uses of the same limit and entity. Sorted by entity and limit. */
export function addUp<Use extends LimitUse & { entity?: string }>(uses: readonly Use[]): Use[] {
  const sums = new Map<string, Map<string, Use>>()
  for (const use of uses) {
    const { entity = '' } = use
    let ofEntity = sums.get(entity)
    if (ofEntity === undefined) sums.set(entity, (ofEntity = new Map()))
    const { admitted, denied } = ofEntity.get(use.limit) ?? { admitted: 0, denied: 0 }
    ofEntity.set(use.limit, { ...use, admitted: admitted + use.admitted, denied: denied + use.denied })
  }
  return [...sums.values()].flatMap((ofEntity) => [...ofEntity.values()]).sort(byName)
}

const byName = (a: LimitUse & { entity?: string }, b: LimitUse & { entity?: string }): number =>
  compare(a.entity ?? '', b.entity ?? '') || compare(a.limit, b.limit)
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * The hour in the counts that an engine stores as `a`, `d` (admitted and denied of a limit) or `A`, `D` (those of an
 * entity), the limit, and the entity. Anything else is ignored.
 */
export function hourOf(
  { resource, start }: Pick<UsageHour, 'resource' | 'start'>,
  counts: Iterable<readonly [name: string, amount: number]>,
  separator: string,
): UsageHour {
  const totals: LimitUse[] = []
  const entities: EntityUse[] = []
  for (const [name, amount] of counts) {
    const [kind = '', limit, ...rest] = name.split(separator)
    if (limit === undefined || !/^[ad]$/i.test(kind)) continue
    const isAdmitted = kind.toLowerCase() === 'a'
    const use = { limit, admitted: isAdmitted ? amount : 0, denied: isAdmitted ? 0 : amount }
    if (kind !== kind.toLowerCase()) entities.push({ entity: rest.join(separator), ...use })
    else if (rest.length === 0) totals.push(use)
  }
  return { resource, start, totals: addUp(totals), entities: addUp(entities) }
}

export function merge(before: UsageHour | undefined, added: UsageHour, most: number): UsageHour {
  const entities = addUp([...(before?.entities ?? []), ...added.entities])
  const surplus = new Set(surplusOf(entities, most))
  return {
    ...added,
    totals: addUp([...(before?.totals ?? []), ...added.totals]),
    entities: entities.filter((use) => !surplus.has(use)),
  }
}
