import type { ConfigKey, Level } from '../../../guards/rate-limit/types.js'
import { text } from '../client/attributes.js'
import { behind, whole } from '../client/key-ranges.js'
import {
  directoryKey,
  directoryPartition,
  directorySort,
  entityOfPartition,
  LIMIT_PREFIX,
  type ListedKey,
  levelOfPartition,
  PARENT_SORT,
  readDirectorySort,
} from './keys.js'
import type { LimitTable } from './table.js'

/** Maximum configurations that this process remembers to be in the directory. */
const MAX_KNOWN = 10_000

/**
 * Lists all configurations: in the layout of the source design each resource and each entity has its own partition.
 * Configurations of other programs are added when they are first used, or by a scan.
 */
export class Directory {
  private readonly known = new Set<string>()

  constructor(private readonly guards: LimitTable) {}

  async page(level: Level, after: ConfigKey | undefined, limit: number) {
    const { sorts, isLast } = await this.sorts(level, after && directorySort(after), limit)
    return { keys: sorts.map((sort) => readDirectorySort(level, sort)), isLast }
  }

  async entities(after: string | undefined, limit: number) {
    const { sorts, isLast } = await this.sorts('parent', after, limit)
    return { ids: sorts, isLast }
  }

  private async sorts(level: ListedKey['level'], after: string | undefined, limit: number) {
    const partition = directoryPartition(level)
    const { items, next } = await this.guards.client.query('limit.config', {
      TableName: this.guards.table,
      ...(after === undefined ? whole(partition) : behind(partition, after)),
      Limit: limit,
    })
    const sorts = items.map(({ SK }) => SK!.S!)
    return { sorts, isLast: next === undefined || sorts.length === 0 }
  }

  /** Adds a configuration that was found. Not awaited: after a failure it is only not listed. */
  found(key: ListedKey): void {
    const { PK, SK } = directoryKey(key)
    const name = `${PK.S} ${SK.S}`
    if (this.known.has(name)) return
    if (this.known.size >= MAX_KNOWN) this.known.clear()
    this.known.add(name)
    this.name(key).catch(() => this.known.delete(name))
  }

  /** Reads first, for half a unit: mostly it is there. */
  private async name(key: ListedKey): Promise<void> {
    const { client, table: TableName } = this.guards
    const Key = directoryKey(key)
    if ((await client.getItem('limit.directory', { TableName, Key })) !== undefined) return
    await client.putItem('limit.directory', { TableName, Item: Key })
  }

  /** Scans the whole table, and adds every configuration. */
  async scan(): Promise<void> {
    const { client, table: TableName } = this.guards
    const found = new Map<string, ListedKey>()
    let ExclusiveStartKey: Awaited<ReturnType<typeof client.scan>>['next']
    do {
      const page = await client.scan('limit.directory', {
        TableName,
        FilterExpression: 'begins_with(SK, :limit) OR SK = :parent',
        ExpressionAttributeValues: { ':limit': text(LIMIT_PREFIX), ':parent': text(PARENT_SORT) },
        ProjectionExpression: 'PK, SK',
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      })
      for (const { PK, SK } of page.items) {
        const key = keyOf(PK!.S!, SK!.S!)
        if (key !== undefined) found.set(`${PK!.S} ${'resource' in key ? key.resource : ''}`, key)
      }
      ExclusiveStartKey = page.next
    } while (ExclusiveStartKey !== undefined)
    for (const key of found.values()) await this.name(key)
  }
}

/** The level of a row. In the layout of the source design only the keys name it. */
function keyOf(partition: string, sort: string): ListedKey | undefined {
  if (sort === PARENT_SORT) {
    const entity = entityOfPartition(partition)
    return entity === undefined ? undefined : { level: 'parent', entity }
  }
  const [resource = ''] = sort.slice(LIMIT_PREFIX.length).split('#')
  return resource === '' ? undefined : levelOfPartition(partition, resource)
}
