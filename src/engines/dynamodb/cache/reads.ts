import type { Item } from '../client/attributes.js'
import { entryKey, entryPrefix, MARKS_SORT, marksKey } from './keys.js'
import { type Marks, readMarks } from './marks.js'
import type { CacheTable } from './table.js'

/** Items by key, and the removals of their space, all at least as new as one moment. */
export interface Reading {
  items: ReadonlyMap<string, Item>
  marks: Marks
}

interface Gathering {
  keys: Set<string>
  reading: Promise<Reading>
}

/** Reads entries. Reads of one event-loop turn are batched by space. */
export class Reads {
  private readonly gathered = new Map<string, Gathering>()

  constructor(private readonly guards: CacheTable) {}

  read(space: string, keys: readonly string[]): Promise<Reading> {
    let gathering = this.gathered.get(space)
    if (gathering === undefined) {
      gathering = { keys: new Set(), reading: this.readSoon(space) }
      this.gathered.set(space, gathering)
    }
    for (const key of keys) gathering.keys.add(key)
    return gathering.reading
  }

  private async readSoon(space: string): Promise<Reading> {
    await new Promise((resolve) => setImmediate(resolve))
    const { keys } = this.gathered.get(space)!
    this.gathered.delete(space)
    const { client, table } = this.guards
    const wanted = [marksKey(space), ...Array.from(keys, (key) => entryKey(space, key))]
    // Consistent: otherwise an instance that was notified of a removal could read, and cache, the old value.
    const found = await client.batchGetItem('cache.read', { table, keys: wanted, consistent: true })
    const prefix = entryPrefix(space).length
    const marks = found.find(({ SK }) => SK?.S === MARKS_SORT)
    const entries = found.filter((item) => item !== marks)
    return {
      items: new Map(entries.map((item) => [item.PK!.S!.slice(prefix), item])),
      marks: readMarks(marks),
    }
  }
}
