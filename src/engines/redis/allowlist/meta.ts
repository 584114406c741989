import { labelsOf } from '../../../guards/allowlist/labels.js'
import type { StoredConfig } from '../../../guards/allowlist/pause.js'
import type { CheckedList, ListRecord } from '../../../guards/allowlist/port.js'
import type { AllowlistType, ListLabels, Precision } from '../../../guards/allowlist/types.js'
import { assertListShape, listJson } from '../../../guards/allowlist/unreadable.js'

/** The metadata of a list, as fields of a hash. Values that change with every member are in the shards. */
export interface Meta {
  incarnation: number
  name: string
  type: AllowlistType
  precision: Precision
  /** JSON. */
  config: string | undefined
  salt: string
  /** JSON. */
  tags: string | undefined
  owner: string | undefined
  description: string | undefined
  version: number
  shards: number
  /** The generation that checks see, and the last one that a replace began. */
  generation: number
  lastGeneration: number
  /** Number of moves to another number of shards. */
  layout: number
  createdAt: number
  updatedAt: number
  /** When it was deleted, while it is being swept. */
  deleted: number | undefined
  /** JSON: the replace that is building the next generation. */
  replacing: string | undefined
  /** JSON: the running move to another number of shards. */
  moving: string | undefined
  /** JSON: the shards that it has moved away from, until they are deleted. */
  dropping: string | undefined
}

/** A list as checks see it, with the location of its members. */
export type RedisList = CheckedList & { readonly generation: number; readonly layout: number }

/** Reads the reply of HGETALL; undefined if it is empty. */
export function readMeta(reply: unknown): Meta | undefined {
  return metaOf(reply as Map<string, string>)
}

/** The same from a script, which returns names and values in turn. */
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
    tags: fields.get('tags'),
    owner: fields.get('owner'),
    description: fields.get('description'),
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

function readLabels(id: string, { tags, owner = '', description = '' }: Meta): ListLabels {
  return labelsOf({ tags: tags === undefined ? [] : listJson<string[]>(id, tags), owner, description })
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
    ...readLabels(id, meta),
    customerCount: shards.customerCount,
    updatedAt: Math.max(meta.updatedAt, shards.updatedAt),
  }
}
