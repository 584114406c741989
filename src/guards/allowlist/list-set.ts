import type { ListSetOutcome, ListSetStep, SingleLists } from './port.js'

/** Lists that are changed at once, where an engine changes them one by one. */
const AT_ONCE = 16

type Conflict = Exclude<ListSetOutcome, { outcome: 'changed' }>

export const idOfStep = (step: ListSetStep): string => (step.step === 'create' ? step.list.id : step.id)

/** Why the set cannot be made on these lists. `found`: a list, also one that is being deleted. */
export function refusalOf(
  steps: readonly ListSetStep[],
  found: (id: string) => { version: number; deleted?: boolean } | undefined,
): Conflict | undefined {
  const ids: string[] = []
  const leaving: string[] = []
  for (const step of steps) {
    const id = idOfStep(step)
    const list = found(id)
    const isThere = list !== undefined && !list.deleted
    if (step.step === 'create') {
      if (isThere) ids.push(id)
      else if (list !== undefined) leaving.push(id)
    } else if (!isThere || list.version !== step.ifVersion) ids.push(id)
  }
  if (ids.length > 0) return { outcome: 'conflict', ids, changed: 0 }
  return leaving.length > 0 ? { outcome: 'being-deleted', ids: leaving, changed: 0 } : undefined
}

/** The same for the lists as they are now. */
export async function refusalNow(
  store: SingleLists,
  steps: readonly ListSetStep[],
): Promise<Conflict | undefined> {
  const known = new Map<string, { version: number }>()
  for (const part of inParts(steps, () => false)) {
    const lists = await Promise.all(part.map((step) => store.get(idOfStep(step))))
    for (const list of lists) if (list !== undefined) known.set(list.id, list)
  }
  return refusalOf(steps, (id) => known.get(id))
}

/**
 * For engines that cannot change many lists in one transaction: compares all, then changes them in order. A change
 * that refers to other lists waits for all before it. Ends at the first list that somebody else changed meanwhile.
 */
export async function changeOneByOne(
  store: SingleLists,
  steps: readonly ListSetStep[],
  now: number,
): Promise<ListSetOutcome> {
  const refusal = await refusalNow(store, steps)
  if (refusal !== undefined) return refusal
  let changed = 0
  for (const part of inParts(steps, refersToOthers)) {
    const outcomes = await Promise.all(part.map((step) => changeOne(store, step, now)))
    changed += outcomes.filter((outcome) => outcome === 'changed').length
    const ids = part.flatMap((step, i) => (outcomes[i] === 'changed' ? [] : [idOfStep(step)]))
    if (ids.length > 0)
      return { outcome: outcomes.find((one) => one !== 'changed')!, ids, changed } as Conflict
  }
  return { outcome: 'changed' }
}

async function changeOne(
  store: SingleLists,
  step: ListSetStep,
  now: number,
): Promise<ListSetOutcome['outcome']> {
  switch (step.step) {
    case 'create': {
      const { outcome } = await store.create(step.list, now)
      if (outcome === 'being-deleted') return outcome
      return outcome === 'created' ? 'changed' : 'conflict'
    }
    case 'update': {
      const { id, step: _, ...change } = step
      return (await store.update(id, change, now)).outcome === 'updated' ? 'changed' : 'conflict'
    }
    case 'delete': {
      const list = await store.get(step.id)
      if (list?.version !== step.ifVersion) return 'conflict'
      return (await store.delete(step.id, now)) ? 'changed' : 'conflict'
    }
  }
}

function refersToOthers(step: ListSetStep): boolean {
  if (step.step === 'delete') return true
  const config = step.step === 'create' ? step.list.config : step.config
  return config?.base !== undefined || (config?.exclude ?? []).length > 0
}

function* inParts(
  steps: readonly ListSetStep[],
  isAlone: (step: ListSetStep) => boolean,
): Generator<ListSetStep[]> {
  let part: ListSetStep[] = []
  for (const step of steps) {
    if (part.length === AT_ONCE || (part.length > 0 && (isAlone(step) || isAlone(part[0]!)))) {
      yield part
      part = []
    }
    part.push(step)
  }
  if (part.length > 0) yield part
}
