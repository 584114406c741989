import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.js'
import { CatracaError, invalid, isCatracaError } from '../../core/errors.js'
import { plainName } from '../../core/identifiers.js'
import { listName, oneOf } from './input.js'
import { isSearch, ListSearch } from './list-search.js'
import { parsePage } from './paging.js'
import { pausedConfig, resumedConfig, type StoredConfig } from './pause.js'
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
    this.search = new ListSearch(store)
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
    const record = { id, name, type, precision, salt, ...(config === undefined ? {} : { config }) }
    const outcome = await this.store.create(record, this.clock.now())
    this.search.forget()
    switch (outcome.outcome) {
      case 'created':
        return publicList(outcome.list)
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

  private async wave(id: string): Promise<{ list: ListRecord; config: StoredConfig }> {
    const list = await this.record(id)
    if (list.config !== undefined) return { list, config: list.config }
    throw new CatracaError('WRONG_ALLOWLIST_TYPE', `${list.id} is a FIXA list: it has members, not a rule`)
  }

  async page(query: Types.AllowlistQuery): Promise<Types.AllowlistPage> {
    if (isSearch(query)) {
      const { lists, ...found } = await this.search.find(query)
      return { items: lists.map(publicList), ...found }
    }
    const { limit, after } = parsePage(query)
    const lists = await this.store.page(after, limit)
    return paged(lists.map(publicList), lists.length === limit ? lists.at(-1)?.id : undefined)
  }

  async update(
    id: string,
    { name, config }: Types.AllowlistChange,
    { ifVersion }: { ifVersion?: number },
  ): Promise<Types.Allowlist> {
    const list = await this.record(id)
    if (name === undefined && config === undefined) throw invalid('name', 'or config must be given')
    return this.change(list.id, {
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
        return publicList(outcome.list)
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
      const { list, config } = await this.wave(id)
      if (config.paused !== undefined) return publicList(list)
      const change = { config: pausedConfig(config, this.clock.now()) }
      if (attempt === PAUSE_ATTEMPTS) return this.change(list.id, change)
      try {
        return await this.change(list.id, { ...change, ifVersion: list.version })
      } catch (error) {
        if (!isCatracaError(error, 'VERSION_MISMATCH')) throw error
      }
    }
  }

  async resume(id: string, options: { ifVersion?: number }): Promise<Types.Allowlist> {
    const { list, config } = await this.wave(id)
    const rule = resumedConfig(config)
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
}
