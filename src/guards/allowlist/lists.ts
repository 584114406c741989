import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.js'
import { CatracaError, invalid, isCatracaError } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import { parsePage } from '../../core/paging.js'
import { listName, oneOf } from './input.js'
import { labelsOf, parseLabels } from './labels.js'
import { changedOrConflict, stepsOf } from './list-changes.js'
import { isSearch, ListSearch } from './list-search.js'
import { pausedConfig, postponedConfig, resumedConfig, type StoredConfig } from './pause.js'
import type { ListChange, ListRecord, ListStore } from './port.js'
import { paged, publicList } from './public-form.js'
import { checkReferences, checkUnused } from './references.js'
import type * as Types from './types.js'
import { parseWaveConfig } from './wave/config.js'

/** If the rule keeps changing during this many attempts to pause, the last attempt ignores the version. */
const PAUSE_ATTEMPTS = 5

export function missing(id: string): never {
  throw new CatracaError('ALLOWLIST_NOT_FOUND', `there is no allowlist ${id}`)
}

/** The lists themselves, without their members. */
export class Lists {
  private readonly search: ListSearch

  constructor(
    private readonly store: ListStore,
    private readonly clock: Clock,
  ) {
    this.search = new ListSearch(store, clock)
  }

  async create(input: Types.NewAllowlist): Promise<Types.Allowlist> {
    const id = input.id === undefined ? randomUUID() : plainName('id', input.id)
    const name = listName(input.name)
    const type = oneOf('type', input.type, ['FIXA', 'ONDA'])
    const precision = oneOf('precision', input.precision ?? 'exact', ['exact', 'trusted'])
    if (type === 'ONDA' && precision === 'trusted')
      throw invalid('precision', 'trusted applies to FIXA lists only')
    const config = await this.config(id, type, input.config)
    const salt = randomBytes(16).toString('hex')
    const labels = labelsOf(parseLabels(input))
    const record = { id, name, type, precision, salt, ...(config && { config }), ...labels }
    const outcome = await this.store.create(record, this.clock.now())
    this.search.forget()
    switch (outcome.outcome) {
      case 'created':
        return this.shown(outcome.list)
      case 'exists':
        throw new CatracaError('ALLOWLIST_EXISTS', `there is already an allowlist ${id}`)
      case 'being-deleted':
        throw new CatracaError(
          'ALLOWLIST_BEING_DELETED',
          `the members of the deleted allowlist ${id} are still being removed`,
        )
    }
  }

  private async config(
    id: string,
    type: Types.AllowlistType,
    given: unknown,
  ): Promise<Types.WaveConfig | undefined> {
    if (type === 'FIXA') {
      if (given !== undefined) throw invalid('config', 'applies to ONDA lists only')
      return undefined
    }
    const config = parseWaveConfig('config', given)
    await checkReferences(this.store, id, config)
    return config
  }

  async record(id: string): Promise<ListRecord> {
    const listId = plainName('allowlistId', id)
    return (await this.store.get(listId)) ?? missing(listId)
  }

  /** Only FIXA lists have members. Calls about members of other lists are refused. */
  async fixa(id: string): Promise<ListRecord> {
    const list = await this.record(id)
    if (list.type !== 'FIXA') {
      throw new CatracaError('WRONG_ALLOWLIST_TYPE', `${list.id} is an ONDA list: it has a rule, not members`)
    }
    return list
  }

  /** Only waves have a rule. */
  async wave(id: string): Promise<ListRecord & { config: StoredConfig }> {
    const { config, ...list } = await this.record(id)
    if (config !== undefined) return { ...list, config }
    throw new CatracaError('WRONG_ALLOWLIST_TYPE', `${list.id} is a FIXA list: it has members, not a rule`)
  }

  async page(query: Types.AllowlistQuery): Promise<Types.AllowlistPage> {
    if (isSearch(query)) {
      const { lists, ...found } = await this.search.find(query)
      return { items: lists.map((list) => this.shown(list)), ...found }
    }
    const { limit, after } = parsePage(query)
    const lists = await this.store.page(after, limit)
    return paged(
      lists.map((list) => this.shown(list)),
      lists.length === limit ? lists.at(-1)?.id : undefined,
    )
  }

  private shown(list: ListRecord): Types.Allowlist {
    return publicList(list, this.clock.now())
  }

  /** From the lists as searches know them. */
  async usedBy(id: string): Promise<Types.ListUse[]> {
    const list = await this.record(id)
    return this.search.usesOf(list.id)
  }

  async update(
    id: string,
    { name, config, ...given }: Types.AllowlistChange,
    { ifVersion }: { ifVersion?: number },
  ): Promise<Types.Allowlist> {
    const list = await this.record(id)
    const labels = parseLabels(given)
    if (name === undefined && config === undefined && Object.keys(labels).length === 0)
      throw invalid('name', 'or another field must be given')
    return this.change(list.id, {
      ...labels,
      ...(name === undefined ? {} : { name: listName(name) }),
      ...(config === undefined ? {} : { config: (await this.config(list.id, list.type, config))! }),
      ...(ifVersion === undefined ? {} : { ifVersion }),
    })
  }

  private async change(id: string, change: ListChange): Promise<Types.Allowlist> {
    const outcome = await this.store.update(id, change, this.clock.now())
    this.search.forget()
    switch (outcome.outcome) {
      case 'updated':
        return this.shown(outcome.list)
      case 'not-found':
        return missing(id)
      case 'version-mismatch':
        throw new CatracaError('VERSION_MISMATCH', `${id} has version ${outcome.version}`, {
          facts: { version: outcome.version },
        })
    }
  }

  /** If the rule changes meanwhile, the pause stores the newer rule. The pause always succeeds in the end. */
  async pause(id: string): Promise<Types.Allowlist> {
    for (let attempt = 1; ; attempt++) {
      const list = await this.wave(id)
      const { config } = list
      if (config.paused !== undefined) return this.shown(list)
      const change = { config: pausedConfig(config, this.clock.now()) }
      if (attempt === PAUSE_ATTEMPTS) return this.change(list.id, change)
      try {
        return await this.change(list.id, { ...change, ifVersion: list.version })
      } catch (error) {
        if (!isCatracaError(error, 'VERSION_MISMATCH')) throw error
      }
    }
  }

  async resume(id: string, options: Types.ResumeOptions): Promise<Types.Allowlist> {
    const list = await this.wave(id)
    const { config } = list
    const { shift = false } = options
    if (typeof shift !== 'boolean') throw invalid('shift', 'must be true or false')
    const rule = shift ? postponedConfig(config, this.clock.now()) : resumedConfig(config)
    if (rule === undefined) throw new CatracaError('WAVE_NOT_PAUSED', `${list.id} is not paused`)
    // Uses the version that was read, so that a rule saved since then is not overwritten.
    return this.change(list.id, { config: rule, ifVersion: options.ifVersion ?? list.version })
  }

  async delete(id: string): Promise<void> {
    const { id: listId } = await this.record(id)
    await checkUnused(this.store, listId)
    if (!(await this.store.delete(listId, this.clock.now()))) missing(listId)
    this.search.forget()
  }

  async changeAll(changes: readonly Types.ListSetChange[]): Promise<{ changed: number }> {
    const now = this.clock.now()
    const steps = await stepsOf(this.store, changes, now)
    if (steps.length === 0) return { changed: 0 }
    const outcome = await this.store.changeAll(steps, now)
    this.search.forget()
    return changedOrConflict(outcome, steps.length)
  }
}
