import { isCatracaError } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import type { Allowlists } from '../allowlist/index.js'
import { labelsOf } from '../allowlist/labels.js'
import type { Allowlist, AllowlistChange, ImportOptions, ImportResult } from '../allowlist/types.js'
import { type ChangesOf, changesInSet } from './recording.js'
import type { AuditTarget } from './types.js'

const target = (id: string): AuditTarget => ({ kind: 'allowlist', id: plainName('allowlistId', id) })

/** A change of a list that is read before it is changed. */
const changeOf = <Verb extends 'update' | 'pause' | 'resume' | 'delete' | 'reshard'>(
  verb: Verb,
  lists: Pick<Allowlists, 'get'>,
  id: string,
  seen: (list: Allowlist) => object,
  after?: object,
) => ({
  look: () => lists.get(id),
  asked: (before?: Allowlist) => ({
    action: `allowlist.${verb}` as const,
    target: target(id),
    ...{ before: before && seen(before), ...(after && { after }) },
  }),
})

type Reads =
  | 'get'
  | 'list'
  | 'usedBy'
  | 'member'
  | 'members'
  | 'listsOf'
  | 'resharding'
  | 'importStatus'
  | 'imports'
  | 'index'
type Checks = 'check' | 'checkMany' | 'explain' | 'explainAll' | 'sample'

/** Changes of lists. `recorded-members.ts` records those of single members, `add` and `remove`. */
export const ALLOWLIST_CHANGES: ChangesOf<Allowlists, Reads | Checks | 'add' | 'remove'> = {
  create: (_, input) => ({
    asked: () => ({
      action: 'allowlist.create',
      target: { kind: 'allowlist', id: String(input.id ?? '') },
      after: input,
    }),
    done: (list) => ({ target: { kind: 'allowlist', id: list.id }, after: settingsOf(list) }),
  }),
  update: (lists, id, change) => ({
    ...changeOf('update', lists, id, (list) => ({ ...changed(change, list), version: list.version }), change),
    done: (list) => ({ after: { ...changed(change, list), version: list.version } }),
  }),
  pause: (lists, id) => ({
    ...changeOf('pause', lists, id, ruleOf),
    // A wave that was already paused is unchanged.
    isMade: (list, before?: Allowlist) => before?.version !== list.version,
    // `before` is the rule that the pause found, which may be newer than the one that was read.
    done: (list) => ({
      before: { config: list.paused?.config, version: list.version - 1 },
      after: ruleOf(list),
    }),
  }),
  resume: (lists, id, options) => ({
    ...changeOf('resume', lists, id, ruleOf),
    done: (list, before?: Allowlist) => ({
      after: ruleOf(list),
      ...(options?.shift && before?.paused && { detail: { shiftedMs: pauseMs(before.paused.at, list) } }),
    }),
  }),
  delete: (lists, id) => ({
    ...changeOf('delete', lists, id, (list) => {
      const { version, customerCount } = list
      return { ...settingsOf(list), version, customerCount }
    }),
  }),
  changeAll: (lists, changes) =>
    changesInSet(
      changes,
      ({ id }) => lists.get(id),
      ({ id, ifVersion, list }, before?: Allowlist) => ({
        action: `allowlist.${list === undefined ? 'delete' : ifVersion === undefined ? 'create' : 'update'}`,
        target: target(id),
        before: before && { ...settingsOf(before), version: before.version },
        ...(list && { after: { ...list, version: (ifVersion ?? 0) + 1 } }),
      }),
    ),
  rebuild: (_, id) => ({
    isLong: true,
    asked: () => ({ action: 'allowlist.rebuild', target: target(id) }),
  }),
  reshard: (lists, id, shardCount) => ({
    isLong: true,
    ...changeOf('reshard', lists, id, (list) => ({ shardCount: list.shardCount }), { shardCount }),
    isMade: (_list, before?: Allowlist) => before?.shardCount !== shardCount,
  }),
  // One entry for the whole import, with its counts.
  import: (_, id, _body, options = {}) => {
    const audited = (facts: Partial<ImportResult>) => ({
      action: 'allowlist.import' as const,
      target: target(id),
      detail: importDetail(facts, options),
    })
    return {
      isLong: true,
      asked: () => audited({}),
      done: audited,
      failed: (error) => {
        const facts = isCatracaError(error) ? (error.facts ?? {}) : {}
        const isStored = Number(facts.added ?? 0) + Number(facts.removed ?? 0) > 0
        return isStored ? [{ ...audited(facts), outcome: 'partial' }] : []
      },
    }
  },
}

const COUNTS = ['added', 'unchanged', 'removed', 'rejected'] as const

function importDetail(facts: Partial<ImportResult>, { mode = 'add', importId }: ImportOptions) {
  const counts = COUNTS.filter((name) => facts[name] !== undefined).map((name) => [name, facts[name]])
  return {
    importId: facts.importId ?? importId,
    mode,
    ...Object.fromEntries(counts),
    ...(facts.customerCount !== undefined && { customerCount: facts.customerCount }),
  }
}

const settingsOf = (list: Allowlist) => ({
  ...{ name: list.name, type: list.type, precision: list.precision },
  ...(list.config && { config: list.config }),
  ...labelsOf(list),
})

const pauseMs = (from: string, { updatedAt }: Allowlist) => Date.parse(updatedAt) - Date.parse(from)

const ruleOf = ({ config, version }: Allowlist) => ({ config, version })

/** The fields of a list that a change names. One that the list does not have is null. */
function changed(change: AllowlistChange, list: Allowlist) {
  const names = CHANGED.filter((name) => change[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, list[name] ?? null]))
}

const CHANGED = ['name', 'config', 'tags', 'owner', 'description'] as const
