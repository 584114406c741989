import type { StoredConfig } from '../../../guards/allowlist/pause.js'
import type { CheckedList, ListRecord } from '../../../guards/allowlist/port.js'
import type { AllowlistType, Precision } from '../../../guards/allowlist/types.js'
import { assertListShape, listJson } from '../../../guards/allowlist/unreadable.js'

/** The metadata of a list, as fields of a hash. What changes with every member stands with the shards. */
export interface Meta {
  incarnation: number
  name: string
  type: AllowlistType
  precision: Precision
  /** JSON. */
  config: string | undefined
  salt: string
  version: number
  shards: number
  /** The generation of members that checks see, and the last one ever begun. */
  generation: number
  lastGeneration: number
  /** Counts the moves to another number of shards. */
  layout: number
  createdAt: number
  updatedAt: number
  /** Since when it is deleted, while it is being swept. */
  deleted: number | undefined
  /** JSON: the replace that is building the next generation. */
  replacing: string | undefined
  /** JSON: the move to another number of shards that is under way. */
  moving: string | undefined
  /** JSON: the shards that it has moved away from, until they are dropped. */
  dropping: string | undefined
}

/** A list as checks see it, with where its members are. */
export type RedisList = CheckedList & { readonly generation: number; readonly layout: number }

/** What HGETALL answers; undefined when there is nothing. */
export function readMeta(reply: unknown): Meta | undefined {
  return metaOf(reply as Map<string, string>)
}

/** The same from a script, which answers names and values in turn. */
export function readFlatMeta(reply: readonly string[]): Meta | undefined {
  const fields = new Map<string, string>()
  for (let i = 0; i + 1 < reply.length; i += 2) fields.set(reply[i]!, reply[i + 1]!)
  return metaOf(fields)
}

function metaOf(fields: Map<string, string>): Meta | undefined {
  if (fields.size === 0) return undefined
  const text = (name: string) => fields.get(name) ?? ''
  const number = (name: string) => Number(fields.get(name) ?? 0)
  const deleted = fields.get('deleted')
  return {
    incarnation: number('incarnation'),
    name: text('name'),
    type: text('type') as AllowlistType,
    precision: text('precision') as Precision,
    config: fields.get('config'),
    salt: text('salt'),
    version: number('version'),
    shards: number('shards'),
    generation: number('generation'),
    lastGeneration: number('lastGeneration'),
    layout: number('layout'),
    createdAt: number('createdAt'),
    updatedAt: number('updatedAt'),
    deleted: deleted === undefined ? undefined : Number(deleted),
    replacing: fields.get('replacing'),
    moving: fields.get('moving'),
    dropping: fields.get('dropping'),
  }
}

export function listOf(id: string, meta: Meta): RedisList {
  const { incarnation, name, type, precision, salt, version, shards, generation, layout, createdAt } = meta
  const list: RedisList = {
    ...{ id, incarnation, name, type, precision, salt, version, createdAt },
    ...{ shardCount: shards, generation, layout },
  }
  const read = meta.config === undefined ? list : { ...list, config: listJson<StoredConfig>(id, meta.config) }
  assertListShape(id, read)
  return read
}

export const sameList = (a: RedisList, b: RedisList): boolean =>
  a.incarnation === b.incarnation &&
  a.version === b.version &&
  a.generation === b.generation &&
  a.layout === b.layout &&
  a.shardCount === b.shardCount

export function recordOf(
  id: string,
  meta: Meta,
  shards: { customerCount: number; updatedAt: number },
): ListRecord {
  const { generation: _, layout: __, ...list } = listOf(id, meta)
  return {
    ...list,
    customerCount: shards.customerCount,
    updatedAt: Math.max(meta.updatedAt, shards.updatedAt),
  }
}
