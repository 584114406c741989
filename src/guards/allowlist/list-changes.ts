import { randomBytes } from 'node:crypto'
import { checkChanges, conflict, within } from '../../core/change-set.js'
import { CatracaError, invalid } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import { listName, oneOf } from './input.js'
import { labelsOf, parseLabels } from './labels.js'
import { idOfStep } from './list-set.js'
import { pausedConfig, type StoredConfig } from './pause.js'
import type { ListRecord, ListSetOutcome, ListSetStep, ListStore } from './port.js'
import { allLists, checkInGraph, dependsOn, type ListGraph, refuseUsed } from './references.js'
import type { ListSetChange, WaveConfig } from './types.js'
import { parseWaveConfig } from './wave/config.js'

const FIELDS = ['name', 'type', 'precision', 'config', 'tags', 'owner', 'description']
/** A set says what a list becomes, so labels that it does not name are cleared. */
const NO_LABELS = { tags: [], owner: '', description: '' }

interface Wanted {
  id: string
  ifVersion: number | undefined
  list:
    | (Omit<NonNullable<ListSetChange['list']>, 'precision'> & { precision: 'exact' | 'trusted' })
    | undefined
}

/**
 * The steps of a set of changes, in an order in which each list that another one depends on exists at every moment.
 * Refuses what cannot be, judged by how all lists are after the changes.
 */
export async function stepsOf(
  store: ListStore,
  changes: readonly ListSetChange[],
  now: number,
): Promise<ListSetStep[]> {
  const wanted = checkChanges(changes, (change): [string, Wanted] => {
    const parsed = parseChange(change)
    return [parsed.id, parsed]
  })
  if (wanted.length === 0) return []
  const stored = new Map<string, ListRecord>()
  for await (const list of allLists(store)) stored.set(list.id, list)
  const moved = wanted.filter(({ id, ifVersion }) => stored.get(id)?.version !== ifVersion)
  if (moved.length > 0)
    conflict(
      moved.map(({ id }) => id),
      0,
    )
  const graph: ListGraph = new Map([...stored].map(([id, { config }]) => [id, dependsOn(config)]))
  for (const { id, list } of wanted) {
    if (list === undefined) graph.delete(id)
    else graph.set(id, dependsOn(list.config))
  }
  refuseDangling(graph, wanted)
  for (const [i, { id, list }] of wanted.entries()) {
    if (list?.config !== undefined) within(`changes[${i}].list`, () => checkInGraph(graph, id, list.config!))
  }
  return inOrder(
    wanted.map((one, i) => stepOf(one, stored.get(one.id), now, i)),
    graph,
    stored,
  )
}

function parseChange({ id: given, ifVersion, list }: ListSetChange): Wanted {
  const id = plainName('id', given)
  if (ifVersion !== undefined && (!Number.isSafeInteger(ifVersion) || ifVersion < 1))
    throw invalid('ifVersion', 'must be a version of the list')
  if (list === undefined) {
    if (ifVersion === undefined) throw invalid('ifVersion', 'must be given for a list that is to be deleted')
    return { id, ifVersion, list }
  }
  const unknown = Object.keys(list).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined) throw invalid(`list.${unknown.slice(0, 64)}`, 'is not a known field')
  const name = listName(list.name)
  const type = oneOf('list.type', list.type, ['FIXA', 'ONDA'])
  const precision = oneOf('list.precision', list.precision ?? 'exact', ['exact', 'trusted'])
  const labels = within('list', () => parseLabels(list))
  if (type === 'ONDA') {
    if (precision === 'trusted') throw invalid('list.precision', 'trusted applies to FIXA lists only')
    return {
      id,
      ifVersion,
      list: { name, type, precision, ...labels, config: parseWaveConfig('list.config', list.config) },
    }
  }
  if (list.config !== undefined) throw invalid('list.config', 'applies to ONDA lists only')
  return { id, ifVersion, list: { name, type, precision, ...labels } }
}

function stepOf(
  { id, ifVersion, list }: Wanted,
  stored: ListRecord | undefined,
  now: number,
  i: number,
): ListSetStep {
  if (list === undefined) return { step: 'delete', id, ifVersion: ifVersion! }
  const { name, type, precision, config, ...labels } = list
  if (stored === undefined) {
    const salt = randomBytes(16).toString('hex')
    return {
      step: 'create',
      list: { id, name, type, precision, salt, ...(config && { config }), ...labelsOf(labels) },
    }
  }
  for (const field of ['type', 'precision'] as const) {
    if (stored[field] !== list[field])
      throw invalid(`changes[${i}].list.${field}`, `cannot change: ${id} has ${stored[field]}`)
  }
  const kept = config && keepPaused(stored.config, config, now)
  return {
    step: 'update',
    id,
    ifVersion: ifVersion!,
    name,
    ...NO_LABELS,
    ...labels,
    ...(kept && { config: kept }),
  }
}

/** A new rule does not resume a wave that somebody paused: it holds once the wave is resumed. */
function keepPaused(stored: StoredConfig | undefined, config: WaveConfig, now: number): StoredConfig {
  if (stored?.paused === undefined) return config
  const paused = pausedConfig(config, now)
  return { ...paused, paused: { ...paused.paused!, at: stored.paused.at } }
}

function refuseDangling(graph: ListGraph, wanted: readonly Wanted[]): void {
  const gone = new Set(wanted.flatMap(({ id, list }) => (list === undefined ? [id] : [])))
  if (gone.size === 0) return
  const changed = new Set(wanted.map(({ id }) => id))
  for (const id of gone) {
    // A changed wave that names it is refused with its field.
    const users = [...graph].filter(([user, used]) => !changed.has(user) && used.includes(id))
    refuseUsed(
      id,
      users.map(([user]) => user),
    )
  }
}

/** Lists before the waves that depend on them; deleted lists last, after those that depended on them. */
function inOrder(
  steps: readonly ListSetStep[],
  graph: ListGraph,
  stored: ReadonlyMap<string, ListRecord>,
): ListSetStep[] {
  const byId = new Map(steps.map((step) => [idOfStep(step), step]))
  const seen = new Set<string>()
  const ordered: ListSetStep[] = []
  const visit = (step: ListSetStep, used: (id: string) => readonly string[]): void => {
    const id = idOfStep(step)
    if (seen.has(id)) return
    seen.add(id)
    for (const other of used(id)) {
      const first = byId.get(other)
      if (first !== undefined && (first.step === 'delete') === (step.step === 'delete')) visit(first, used)
    }
    ordered.push(step)
  }
  for (const step of steps) if (step.step !== 'delete') visit(step, (id) => graph.get(id) ?? [])
  const kept = ordered.splice(0)
  for (const step of steps) if (step.step === 'delete') visit(step, (id) => dependsOn(stored.get(id)?.config))
  return [...kept, ...ordered.reverse()]
}

export function changedOrConflict(outcome: ListSetOutcome, count: number): { changed: number } {
  if (outcome.outcome === 'changed') return { changed: count }
  if (outcome.outcome === 'conflict') return conflict(outcome.ids, outcome.changed)
  throw new CatracaError(
    'ALLOWLIST_BEING_DELETED',
    `the members of the deleted allowlist ${outcome.ids[0]} are still being removed`,
    { facts: { conflicts: outcome.ids.slice(0, 100), changed: outcome.changed } },
  )
}
