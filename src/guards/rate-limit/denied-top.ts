import { isoTime } from '../../core/clock.js'
import { invalid } from '../../core/errors.js'
import { KnownFields } from '../../core/fields.js'
import { plainName } from '../../core/identifiers.js'
import type { DeniedEntity, TopDenied } from './types.js'

const MINUTE_MS = 60_000
const MINUTES = 60
/** Per minute: the maximum number of resources, and of entity-limit pairs per resource. */
const MAX_RESOURCES = 16
const MAX_ENTRIES = 32
export const MAX_DENIED_ITEMS = 100
const DEFAULT_ITEMS = 20
const KNOWN_OF_QUERY = new KnownFields({ resource: true, limit: true })

interface Entry {
  entity: string
  limit: string
  denied: number
}

/**
 * The most frequent items of a stream in little memory (the space-saving algorithm). When
 * it is full, a new item replaces the smallest and inherits its count. So a frequent item
 * is never missed. Counts may be too high, never too low.
 */
class Frequent {
  private readonly entries: Entry[] = []
  total = 0

  add(entity: string, limit: string, denied: number): void {
    this.total += denied
    const { entries } = this
    let smallest: Entry | undefined
    for (const entry of entries) {
      if (entry.entity === entity && entry.limit === limit) {
        entry.denied += denied
        return
      }
      if (smallest === undefined || entry.denied < smallest.denied) smallest = entry
    }
    if (entries.length < MAX_ENTRIES) entries.push({ entity, limit, denied })
    else Object.assign(smallest!, { entity, limit, denied: smallest!.denied + denied })
  }

  all(): readonly Entry[] {
    return this.entries
  }
}

interface Minute {
  start: number
  resources: Map<string, Frequent>
}

/** The entities denied most often in the last hour, by this process. */
export class DeniedTop {
  private readonly minutes: (Minute | undefined)[] = new Array(MINUTES)

  constructor(private readonly beganAt: number) {}

  add(entity: string, resource: string, limit: string, denied: number, at: number): void {
    const { resources } = this.minuteOf(at) ?? {}
    if (resources === undefined) return
    let frequent = resources.get(resource)
    if (frequent === undefined) {
      if (resources.size >= MAX_RESOURCES) resources.delete(quietest(resources))
      resources.set(resource, (frequent = new Frequent()))
    }
    frequent.add(entity, limit, denied)
  }

  /** Undefined if the slot already holds a newer minute. */
  private minuteOf(at: number): Minute | undefined {
    const start = at - (at % MINUTE_MS)
    const place = (start / MINUTE_MS) % MINUTES
    const known = this.minutes[place]
    if (known !== undefined && known.start >= start) return known.start === start ? known : undefined
    return (this.minutes[place] = { start, resources: new Map() })
  }

  read(query: { resource?: string; limit?: number }, now: number): TopDenied {
    KNOWN_OF_QUERY.check(query)
    const { limit = DEFAULT_ITEMS } = query
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_DENIED_ITEMS) {
      throw invalid('limit', `must be a whole number from 1 to ${MAX_DENIED_ITEMS}`)
    }
    const wanted = query.resource === undefined ? undefined : plainName('resource', query.resource)
    const since = Math.max(now - MINUTES * MINUTE_MS, this.beganAt)
    const sums = new Map<string, Map<string, Map<string, DeniedEntity>>>()
    for (const minute of this.minutes) {
      if (minute === undefined || minute.start + MINUTE_MS <= since || minute.start > now) continue
      for (const [resource, frequent] of minute.resources) {
        if (wanted !== undefined && resource !== wanted) continue
        for (const entry of frequent.all()) addUp(sums, resource, entry)
      }
    }
    const all = [...sums.values()].flatMap((of) => [...of.values()]).flatMap((of) => [...of.values()])
    const items = all.sort((a, b) => b.denied - a.denied).slice(0, limit)
    return { since: isoTime(since), items }
  }
}

function quietest(resources: Map<string, Frequent>): string {
  let found: [string, Frequent] | undefined
  for (const each of resources) if (found === undefined || each[1].total < found[1].total) found = each
  return found![0]
}

/** Nested maps, so that different resource, entity and limit names cannot collide. */
function addUp(
  sums: Map<string, Map<string, Map<string, DeniedEntity>>>,
  resource: string,
  { entity, limit, denied }: Entry,
): void {
  let ofResource = sums.get(resource)
  if (ofResource === undefined) sums.set(resource, (ofResource = new Map()))
  let ofEntity = ofResource.get(entity)
  if (ofEntity === undefined) ofResource.set(entity, (ofEntity = new Map()))
  const known = ofEntity.get(limit)
  if (known === undefined) ofEntity.set(limit, { entity, resource, limit, denied })
  else known.denied += denied
}
