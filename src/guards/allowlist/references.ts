import { CatracaError, invalid } from '../../core/errors.js'
import type { ListRecord, ListStore } from './port.js'
import type { WaveConfig } from './types.js'
import { MAX_CHAIN } from './verdict.js'

/** Maximum number of lists that one check of a wave may reach. */
const MAX_REACHED = 200
const PAGE = 1000

/** The lists that a wave depends on, with the field that names each. */
export function references(config: WaveConfig | undefined): { path: string; id: string }[] {
  const base = config?.base === undefined ? [] : [{ path: 'config.base', id: config.base }]
  return [...base, ...(config?.exclude ?? []).map((id, i) => ({ path: `config.exclude[${i}]`, id }))]
}

export async function* allLists(lists: ListStore): AsyncGenerator<ListRecord> {
  let page: ListRecord[]
  let after: string | undefined
  do {
    page = await lists.page(after, PAGE)
    yield* page
    after = page.at(-1)?.id
  } while (page.length === PAGE)
}

/** Each list with those that it depends on. */
export type ListGraph = Map<string, string[]>

export const dependsOn = (config: WaveConfig | undefined): string[] => references(config).map(({ id }) => id)

/**
 * Refuses references to lists that do not exist, cycles, and chains that are too long, also chains that begin at
 * another wave and reach this one.
 */
export async function checkReferences(lists: ListStore, ownId: string, config: WaveConfig): Promise<void> {
  if (references(config).length === 0) return
  const graph: ListGraph = new Map()
  for await (const list of allLists(lists)) graph.set(list.id, dependsOn(list.config))
  graph.set(ownId, dependsOn(config))
  checkInGraph(graph, ownId, config)
}

/** The same in a graph that has the list already. */
export function checkInGraph(graph: ListGraph, ownId: string, config: WaveConfig): void {
  const own = references(config)
  if (own.length === 0) return
  for (const { path, id } of own) {
    if (id === ownId) throw invalid(path, `makes ${ownId} rest on itself`)
    if (!graph.has(id)) throw invalid(path, `names ${id}, which does not exist`)
  }
  const above = heightAbove(graph, ownId)
  const reached = new Set<string>()
  for (const { path, id } of own) {
    const below = depthBelow(graph, id, new Map(), reached)
    if (reached.has(ownId)) throw invalid(path, `makes ${ownId} rest on itself`)
    if (above + below > MAX_CHAIN) throw invalid(path, `makes a chain of more than ${MAX_CHAIN} lists`)
  }
  if (reached.size > MAX_REACHED)
    throw invalid('config', `rests on more than ${MAX_REACHED} lists, one through another`)
}

/** The longest path down from a list, itself included. Adds every list on the way to `reached`. Stops at cycles. */
function depthBelow(
  graph: Map<string, string[]>,
  id: string,
  known: Map<string, number>,
  reached: Set<string>,
): number {
  const depth = known.get(id)
  if (depth !== undefined) return depth
  known.set(id, 0)
  reached.add(id)
  let deepest = 0
  for (const next of graph.get(id) ?? []) deepest = Math.max(deepest, depthBelow(graph, next, known, reached))
  known.set(id, deepest + 1)
  return deepest + 1
}

/** The longest path to a list from waves that depend on it. */
function heightAbove(graph: Map<string, string[]>, id: string): number {
  const users = new Map<string, string[]>()
  for (const [user, used] of graph) {
    for (const one of used) users.set(one, [...(users.get(one) ?? []), user])
  }
  return depthBelow(users, id, new Map(), new Set()) - 1
}

/** Refuses to delete a list that waves depend on: they would silently admit or deny other customers. */
export async function checkUnused(lists: ListStore, id: string): Promise<void> {
  const users: string[] = []
  for await (const list of allLists(lists)) {
    if (references(list.config).some((reference) => reference.id === id)) users.push(list.id)
  }
  refuseUsed(id, users)
}

export function refuseUsed(id: string, users: readonly string[]): void {
  if (users.length === 0) return
  const names = users.slice(0, 5).join(', ') + (users.length > 5 ? ` and ${users.length - 5} more` : '')
  throw new CatracaError('ALLOWLIST_IN_USE', `${id} is the base or an exclusion of ${names}`)
}
