import { type Item, number, optionalNumber } from '../client/attributes.js'
import { marksKey } from './keys.js'
import type { CacheTable } from './table.js'

/** Keeps the item below 4 KB, which is one read unit. */
const BUCKETS = 256

/**
 * Removals of a whole space or of a tag. Removals are numbered. An entry has the last number when its fill began, and
 * is valid while neither its space nor one of its tags has a greater one. Tags share 256 buckets, so that the item,
 * which is read with every entry, stays small. So a removal sometimes also removes entries of another tag, which
 * costs a load.
 */
export interface Marks {
  /** The number of the last removal. */
  version: number
  /** The lowest number with which an entry of these tags is valid. */
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
  return readMarks(await client.readItem('cache.marks', table, marksKey(space)))
}

export const markTag = (table: CacheTable, space: string, tag: string): Promise<void> =>
  mark(table, space, placeOf(tag))
export const markCleared = (table: CacheTable, space: string): Promise<void> => mark(table, space, 'cleared')

/** Repeated, it also removes entries stored between the two calls, which only costs loads. */
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

/** The attribute of a tag's bucket. */
function placeOf(tag: string): string {
  let hash = FNV_OFFSET
  for (let i = 0; i < tag.length; i++) hash = Math.imul(hash ^ tag.charCodeAt(i), FNV_PRIME)
  hash ^= hash >>> 16
  return `t${((hash ^ (hash >>> 8)) >>> 0) % BUCKETS}`
}
