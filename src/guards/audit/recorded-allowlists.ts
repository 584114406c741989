import { isCatracaError } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import type { Allowlists } from '../allowlist/index.js'
import type { Allowlist, AllowlistChange, ImportOptions, ImportResult } from '../allowlist/types.js'
import type { AuditedAction, AuditTrail } from './index.js'
import { decorate, recording } from './recording.js'
import type { AuditAction, AuditTarget } from './types.js'

const target = (id: string): AuditTarget => ({ kind: 'allowlist', id: plainName('allowlistId', id) })

/** Records every change of lists. `recorded-members.ts` records those of single members. */
export function recordAllowlists(lists: Allowlists, trail: AuditTrail): void {
  recordLists(lists, trail)
  recordIndexes(lists, trail)
  recordImports(lists, trail)
}

function recordLists(lists: Allowlists, trail: AuditTrail): void {
  decorate(lists, 'create', (create) => (input) => {
    const audited = (id: string, after: unknown): AuditedAction => ({
      action: 'allowlist.create',
      target: { kind: 'allowlist', id },
      after,
    })
    return recording(trail, () => create(input), {
      asked: () => audited(String(input.id ?? ''), input),
      done: (list) => [audited(list.id, settingsOf(list))],
    })
  })
  decorate(lists, 'update', (update) => (id, change, options) => {
    const audited = (before: Allowlist | undefined, after: unknown): AuditedAction => ({
      action: 'allowlist.update',
      target: target(id),
      ...(before && { before: { ...changed(change, before), version: before.version } }),
      after,
    })
    return recording(trail, () => update(id, change, options), {
      look: () => lists.get(id),
      asked: (before) => audited(before, change),
      done: (list, before) => [audited(before, { ...changed(change, list), version: list.version })],
    })
  })
  decorate(lists, 'pause', (pause) => (id) => {
    const audited = (fields: Pick<AuditedAction, 'before' | 'after'>): AuditedAction => ({
      action: 'allowlist.pause',
      target: target(id),
      ...fields,
    })
    return recording(trail, () => pause(id), {
      look: () => lists.get(id),
      asked: (list) => audited({ ...(list && { before: { config: list.config, version: list.version } }) }),
      // A wave that was already paused is unchanged, so nothing is recorded. `before` is the rule that the pause found.
      done: ({ config, paused, version }, before) =>
        before?.version === version
          ? []
          : [
              audited({
                before: { config: paused?.config, version: version - 1 },
                after: { config, version },
              }),
            ],
    })
  })
  decorate(lists, 'resume', (resume) => (id, options) => {
    const audited = (before: Allowlist | undefined, after?: unknown): AuditedAction => ({
      action: 'allowlist.resume',
      target: target(id),
      ...(before && { before: { config: before.config, version: before.version } }),
      ...(after !== undefined && { after }),
    })
    return recording(trail, () => resume(id, options), {
      look: () => lists.get(id),
      asked: (before) => audited(before),
      done: ({ config, version }, before) => [audited(before, { config, version })],
    })
  })
  decorate(lists, 'delete', (remove) => (id) => {
    const audited = (list: Allowlist | undefined): AuditedAction => ({
      action: 'allowlist.delete',
      target: target(id),
      ...(list && {
        before: { ...settingsOf(list), version: list.version, customerCount: list.customerCount },
      }),
    })
    return recording(trail, () => remove(id), {
      look: () => lists.get(id),
      asked: audited,
      done: (_, before) => [audited(before)],
    })
  })
}

function recordIndexes(lists: Allowlists, trail: AuditTrail): void {
  decorate(lists, 'rebuild', (rebuild) => (id) => {
    const audited = (): AuditedAction => ({ action: 'allowlist.rebuild', target: target(id) })
    return recording(trail, () => rebuild(id), { isLong: true, asked: audited, done: () => [audited()] })
  })
  decorate(lists, 'reshard', (reshard) => (id, shards, options) => {
    const audited = (before: Allowlist | undefined): AuditedAction => ({
      action: 'allowlist.reshard',
      target: target(id),
      ...(before && { before: { shardCount: before.shardCount } }),
      after: { shardCount: shards },
    })
    return recording(trail, () => reshard(id, shards, options), {
      isLong: true,
      look: () => lists.get(id),
      asked: audited,
      done: (_, before) => (before?.shardCount === shards ? [] : [audited(before)]),
    })
  })
}

const COUNTS = ['added', 'unchanged', 'removed', 'rejected'] as const

/** One entry for the whole import, with its counts. */
function recordImports(lists: Allowlists, trail: AuditTrail): void {
  decorate(lists, 'import', (run) => (id, body, options = {}) => {
    const audited = (facts: Partial<ImportResult>): AuditedAction => ({
      action: 'allowlist.import' satisfies AuditAction,
      target: target(id),
      detail: importDetail(facts, options),
    })
    return recording(trail, () => run(id, body, options), {
      isLong: true,
      asked: () => audited({}),
      done: (result) => [audited(result)],
      failed: (error) => {
        const facts = isCatracaError(error) ? (error.facts ?? {}) : {}
        const isStored = Number(facts.added ?? 0) + Number(facts.removed ?? 0) > 0
        return isStored ? [{ ...audited(facts), outcome: 'partial' }] : []
      },
    })
  })
}

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

/** The fields of a list that a change names. */
function changed(change: AllowlistChange, { name, config }: Allowlist) {
  return {
    ...(change.name !== undefined && { name }),
    ...(change.config !== undefined && { config }),
  }
}
