import { isCatracaError } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import type { Allowlists } from '../allowlist/index.js'
import type { Allowlist, AllowlistChange, ImportOptions, ImportResult } from '../allowlist/types.js'
import type { ChangesOf } from './recording.js'
import type { AuditTarget } from './types.js'

const target = (id: string): AuditTarget => ({ kind: 'allowlist', id: plainName('allowlistId', id) })

type Reads = 'get' | 'list' | 'member' | 'members' | 'listsOf' | 'resharding' | 'importStatus' | 'index'
type Checks = 'check' | 'checkMany' | 'explain'

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
    look: () => lists.get(id),
    asked: (before?: Allowlist) => ({
      action: 'allowlist.update',
      target: target(id),
      before: before && { ...changed(change, before), version: before.version },
      after: change,
    }),
    done: (list) => ({ after: { ...changed(change, list), version: list.version } }),
  }),
  pause: (lists, id) => ({
    look: () => lists.get(id),
    asked: (before?: Allowlist) => ({
      action: 'allowlist.pause',
      target: target(id),
      before: before && ruleOf(before),
    }),
    // A wave that was already paused is unchanged.
    isMade: (list, before?: Allowlist) => before?.version !== list.version,
    // `before` is the rule that the pause found, which may be newer than the one that was read.
    done: (list) => ({
      before: { config: list.paused?.config, version: list.version - 1 },
      after: ruleOf(list),
    }),
  }),
  resume: (lists, id) => ({
    look: () => lists.get(id),
    asked: (before?: Allowlist) => ({
      action: 'allowlist.resume',
      target: target(id),
      before: before && ruleOf(before),
    }),
    done: (list) => ({ after: ruleOf(list) }),
  }),
  delete: (lists, id) => ({
    look: () => lists.get(id),
    asked: (before?: Allowlist) => ({
      action: 'allowlist.delete',
      target: target(id),
      before: before && {
        ...settingsOf(before),
        version: before.version,
        customerCount: before.customerCount,
      },
    }),
  }),
  rebuild: (_, id) => ({
    isLong: true,
    asked: () => ({ action: 'allowlist.rebuild', target: target(id) }),
  }),
  reshard: (lists, id, shardCount) => ({
    isLong: true,
    look: () => lists.get(id),
    asked: (before?: Allowlist) => ({
      action: 'allowlist.reshard',
      target: target(id),
      before: before && { shardCount: before.shardCount },
      after: { shardCount },
    }),
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

const settingsOf = ({ name, type, config, precision }: Allowlist) => ({
  name,
  type,
  precision,
  ...(config && { config }),
})

const ruleOf = ({ config, version }: Allowlist) => ({ config, version })

/** The fields of a list that a change names. */
function changed(change: AllowlistChange, { name, config }: Allowlist) {
  return {
    ...(change.name !== undefined && { name }),
    ...(change.config !== undefined && { config }),
  }
}
