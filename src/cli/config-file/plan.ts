import { isDeepStrictEqual } from 'node:util'
import { chunksOf } from '../../core/chunks.js'
import { invalid } from '../../core/errors.js'
import type { ListSetChange } from '../../guards/allowlist/types.js'
import type { ConfigAddress, ConfigChange, EntityChange } from '../../guards/rate-limit/api.js'
import type { EntityRecord, LevelConfig } from '../../guards/rate-limit/types.js'
import type { Target } from '../commands/support/target.js'
import { ALL_KINDS, type ConfigDocument } from './document.js'
import { at, type FileRecord, type Kind, type PlannedChange, type StoredRecord } from './kind.js'
import type { EntityAddress } from './limits.js'
import { FIXA_KIND, type ListAddress } from './lists.js'

const READ_AT_ONCE = 16

/**
 * The changes to make, kind by kind, in the order of the file. `prune`: also the deletion of what the file does not
 * name, in the kinds of which it has a section.
 */
export async function planChanges(
  target: Target,
  document: ConfigDocument,
  prune: boolean,
): Promise<PlannedChange[]> {
  const changes: PlannedChange[] = []
  for (const kind of ALL_KINDS) {
    const records = document.get(kind.name)
    if (records === undefined) continue
    for (const part of chunksOf(records, READ_AT_ONCE)) {
      const stored = await Promise.all(part.map(({ address }) => kind.get(target, address)))
      for (const [i, record] of part.entries()) changes.push(...changeOf(kind, record, stored[i]))
    }
    if (prune) changes.push(...(await pruned(target, kind, records)))
  }
  return changes
}

function changeOf(kind: Kind, { address, value }: FileRecord, stored?: StoredRecord): PlannedChange[] {
  if (isDeepStrictEqual(stored?.value, value)) return []
  if (stored !== undefined && value !== undefined)
    at(kind.words(address), () => kind.refuse?.(address, stored.value, value))
  return [
    {
      kind: kind.name,
      action: stored === undefined ? 'create' : value === undefined ? 'delete' : 'change',
      address,
      ...(stored && { version: stored.version, before: stored.value }),
      ...(value && { after: value }),
      ...(stored?.remark !== undefined && { remark: stored.remark }),
    },
  ]
}

async function pruned(target: Target, kind: Kind, records: readonly FileRecord[]): Promise<PlannedChange[]> {
  const named = new Set(records.map(({ address }) => kind.words(address).join(' ')))
  const changes: PlannedChange[] = []
  for await (const { address, ...stored } of kind.all(target)) {
    if (!named.has(kind.words(address).join(' ')))
      changes.push(...changeOf(kind, { address, value: undefined }, stored))
  }
  return changes
}

const wordsOf = ({ kind: name, address }: PlannedChange): string =>
  ALL_KINDS.find((kind) => kind.name === name)!
    .words(address)
    .join(' ')

/** Deleting a list deletes its members, so that must be said. A plan that was kept does not know of later ones. */
export async function refuseMembers(target: Target, changes: readonly PlannedChange[]): Promise<void> {
  const deleted = changes.filter(({ kind, after }) => kind === 'lists' && after === undefined)
  for (const part of chunksOf(deleted, READ_AT_ONCE)) {
    const stored = await Promise.all(part.map(({ address }) => FIXA_KIND.get(target, address as ListAddress)))
    for (const [i, change] of part.entries()) {
      const remark = stored[i]?.remark
      if (remark !== undefined)
        throw invalid('--with-members', `must be given to delete ${wordsOf(change)}: ${remark}`)
    }
  }
}

/** Each set is changed whole, if the versions are still those of the plan. Lists and waves are one set. */
export async function applyChanges(
  { allowlists, limits }: Target,
  changes: readonly PlannedChange[],
  done: (set: string, count: number) => void,
): Promise<void> {
  const of = (...kinds: string[]) => changes.filter(({ kind }) => kinds.includes(kind))
  const lists = of('lists', 'waves')
  if (lists.length > 0) {
    await allowlists.changeAll(lists.map(listChange))
    done('lists and waves', lists.length)
  }
  const configs = of('limits')
  if (configs.length > 0) {
    await limits.changeConfigs(configs.map(configChange))
    done('limits', configs.length)
  }
  const entities = of('entities')
  if (entities.length > 0) {
    await limits.changeEntities(entities.map(entityChange))
    done('entities', entities.length)
  }
}

function listChange({ kind, address, version, after }: PlannedChange): ListSetChange {
  const type = kind === 'lists' ? 'FIXA' : 'ONDA'
  return {
    id: (address as ListAddress).id,
    ...(version !== undefined && { ifVersion: version as number }),
    ...(after && { list: { type, ...after } as ListSetChange['list'] & object }),
  }
}

const configChange = ({ address, version, after }: PlannedChange): ConfigChange => ({
  ...(address as ConfigAddress),
  ...(version !== undefined && { ifMatch: version as string }),
  ...(after && { config: after as unknown as LevelConfig }),
})

const entityChange = ({ address, version, after }: PlannedChange): EntityChange => ({
  id: (address as EntityAddress).id,
  ...(version !== undefined && { ifMatch: version as string }),
  ...(after && { record: after as unknown as EntityRecord }),
})

/** The difference as lines: `-` is removed, `+` is added. */
export function describeChange(change: PlannedChange): string[] {
  const { action, before, after, remark } = change
  const head = `${action} ${wordsOf(change)}${remark === undefined ? '' : ` (${remark})`}`
  const [old, next] = [linesOf(before), linesOf(after)]
  const lines = [...new Set([...old.keys(), ...next.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path) ?? [], next.get(path) ?? []]
    const [gone, added] = [
      was.filter((value) => !is.includes(value)),
      is.filter((value) => !was.includes(value)),
    ]
    return [...gone.map((value) => `  - ${path}: ${value}`), ...added.map((value) => `  + ${path}: ${value}`)]
  })
  return [head, ...lines]
}

/** The values of each field; a list of ids has many. */
function linesOf(value: unknown, path = '', lines = new Map<string, string[]>()): Map<string, string[]> {
  if (value === undefined) return lines
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return lines.set(path, value)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return lines.set(path, [typeof value === 'object' ? JSON.stringify(value) : String(value)])
  for (const [name, field] of Object.entries(value))
    linesOf(field, path === '' ? (name === 'limits' ? '' : name) : `${path}.${name}`, lines)
  return lines
}
