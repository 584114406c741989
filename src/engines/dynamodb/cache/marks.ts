import { type Item, number, optionalNumber } from '../client/attributes.js'
import { marksKey } from './keys.js'
import type { CacheTable } from './table.js'

/** As many as make the item stay below 4 KB, which is one unit to read. */
const BUCKETS = 256

/**
 * What was removed of a space as a whole, or of a tag. Removals are numbered; an entry has the last number of when its
 * fill began, and counts while neither its space nor one of its tags has a greater one. Tags share 256 places, so that what
 * is read with every entry stays small: at times a removal takes entries of another tag along, which costs a load.
 */
export interface Marks {
  /** The number of the last removal. */
  version: number
  /** The least number with which an entry of these tags counts. */
  least(tags: readonly string[]): number
}

export function readMarks(item: Item | undefined): Marks {
  const at = (name: string): number => (item === undefined ? 0 : (optionalNumber(item, name) ?? 0))
  return {
    version: at('version'),
    least: (tags) => Math.max(at('cleared'), ...tags.map((tag) => at(placeOf(tag)))),
  }
}

export async function fetchMarks({ client, table }: CacheTable, space: string): Promise<Marks> {
  const input = { TableName: table, Key: marksKey(space), ConsistentRead: true }
  return readMarks(await client.getItem('cache.marks', input))
}

export const markTag = (table: CacheTable, space: string, tag: string): Promise<void> =>
  mark(table, space, placeOf(tag))
export const markCleared = (table: CacheTable, space: string): Promise<void> => mark(table, space, 'cleared')

/** Done twice it marks what was removed between the two, which costs loads and nothing else. */
async function mark({ client, table }: CacheTable, space: string, name: string): Promise<void> {
  const next = 'if_not_exists(#version, :none) + :one'
  const input = {
    TableName: table,
    Key: marksKey(space),
    UpdateExpression: `SET #version = ${next}, #mark = ${next}`,
    ExpressionAttributeNames: { '#version': 'version', '#mark': name },
    ExpressionAttributeValues: { ':none': number(0), ':one': number(1) },
  }
  await client.updateItem('cache.mark', input, { repeatable: true })
}

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** The attribute of a tag. */
function placeOf(tag: string): string {
  let hash = FNV_OFFSET
  for (let i = 0; i < tag.length; i++) hash = Math.imul(hash ^ tag.charCodeAt(i), FNV_PRIME)
  hash ^= hash >>> 16
  return `t${((hash ^ (hash >>> 8)) >>> 0) % BUCKETS}`
}
