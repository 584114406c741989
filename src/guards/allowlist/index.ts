import { randomBytes, randomUUID } from 'node:crypto'
import { type Clock, isoTime } from '../../core/clock.js'
import { monotonicMs } from '../../core/deadlines.js'
import { CatracaError, invalid, isCatracaError } from '../../core/errors.js'
import { type Fields, KnownFields } from '../../core/fields.js'
import { identifier, plainName } from '../../core/identifiers.js'
import type { MaybePromise } from '../../core/maybe-promise.js'
import type { AllowlistsApi, ReshardCallOptions } from './api.js'
import type { CheckFigures } from './check-figures.js'
import { Checker } from './checker.js'
import { Explainer, type TracedStore } from './explainer.js'
import { exportMembers } from './export.js'
import { isSearch, ListSearch } from './list-search.js'
import { parseMemberInput } from './member-input.js'
import { type Indexes, indexStatus } from './membership/indexes.js'
import { makeCursor, parsePage } from './paging.js'
import { pausedConfig, resumedConfig, type StoredConfig } from './pause.js'
import type {
  AllowlistEngine,
  Freshness,
  ListChange,
  ListRecord,
  MemberRecord,
  ReshardStore,
  TimedMembers,
} from './port.js'
import { checkReferences, checkUnused } from './references.js'
import type * as Types from './types.js'
import { UnreadableReports } from './unreadable.js'
import { parseWaveConfig } from './wave/config.js'

export const MAX_LISTS_PER_CHECK = 100
export const MAX_CUSTOMERS_PER_CHECK = 1000
export const MAX_PAIRS_PER_CHECK = 20_000
export const MAX_SHARDS = 1000
export const MAX_RETURNED_ERRORS = 1000
const EXPORT_PAGE = 1000
/** If the rule keeps changing during this many attempts to pause, the last attempt ignores the version. */
const PAUSE_ATTEMPTS = 5
/** A token of an import into a list of 1,000 shards names one log entry per shard. */
const MAX_TOKEN_LENGTH = 16_000

/** Runs an import outside the thread that answers checks. */
export type ImportRunner = (
  list: ListRecord,
  body: AsyncIterable<Uint8Array>,
  options: Types.ImportOptions & { importId: string; mode: Types.ImportMode; format: Types.ImportFormat },
) => Promise<Types.ImportResult>

/** What the guard needs of the engine, with a deadline over changes of members. */
export type TimedEngine = Omit<AllowlistEngine, 'members'> & { readonly members: TimedMembers }

export interface AllowlistsParts {
  engine: TimedEngine
  clock: Clock
  runImport: ImportRunner
  indexes: Indexes
  /** The same view as `engine.checks`, recording each step. */
  traced: TracedStore
  onUnavailable: Types.OnUnavailable
  report: (message: string, error: unknown) => void
  /** Absent if checks are not counted. */
  figures?: CheckFigures | undefined
  /** Absent if the engine does not shard lists. */
  resharding?: ReshardStore | undefined
  /**
   * Starts the cleanup now instead of at the next interval, because the id of a deleted
   * list is free only after cleanup.
   */
  sweepSoon(): void
}

/** The allowlist guard: validates input, calls the engine, and returns public types. */
export class Allowlists implements AllowlistsApi {
  private readonly engine: TimedEngine
  private readonly clock: Clock
  private readonly checker: Checker
  private readonly explainer: Explainer
  private readonly search: ListSearch

  /** Counts of checks. Absent if checks are not counted. */
  readonly figures: CheckFigures | undefined

  constructor(private readonly parts: AllowlistsParts) {
    this.figures = parts.figures
    this.engine = parts.engine
    this.clock = parts.clock
    const unreadable = new UnreadableReports(parts.report)
    this.checker = new Checker(parts.engine.checks, parts.clock, parts.onUnavailable, (id, error) =>
      unreadable.add(id, error),
    )
    this.search = new ListSearch(parts.engine.lists)
    this.explainer = new Explainer(parts.traced, parts.clock, parts.onUnavailable)
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
    const outcome = await this.engine.lists.create(record, this.clock.now())
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
    await checkReferences(this.engine.lists, id, config)
    return config
  }

  async get(id: string): Promise<Types.Allowlist> {
    return publicList(await this.record(id))
  }

  private async record(id: string): Promise<ListRecord> {
    const listId = plainName('allowlistId', id)
    return (await this.engine.lists.get(listId)) ?? missing(listId)
  }

  /** Only FIXA lists have members. Calls about members of other lists are refused. */
  private async fixa(id: string): Promise<ListRecord> {
    const list = await this.record(id)
    if (list.type !== 'FIXA') {
      throw new CatracaError('WRONG_ALLOWLIST_TYPE', `${list.id} is an ONDA list: it has a rule, not members`)
    }
    return list
  }

  async list(page: Types.AllowlistQuery = {}): Promise<Types.AllowlistPage> {
    if (isSearch(page)) {
      const { lists, ...found } = await this.search.find(page)
      return { items: lists.map(publicList), ...found }
    }
    const { limit, after } = parsePage(page)
    const lists = await this.engine.lists.page(after, limit)
    return paged(lists.map(publicList), lists.length === limit ? lists.at(-1)?.id : undefined)
  }

  async update(
    id: string,
    change: Types.AllowlistChange,
    options: { ifVersion?: number } = {},
  ): Promise<Types.Allowlist> {
    const list = await this.record(id)
    const { name, config } = change
    if (name === undefined && config === undefined) throw invalid('name', 'or config must be given')
    return this.changed(list.id, {
      ...(name === undefined ? {} : { name: listName(name) }),
      ...(config === undefined ? {} : { config: (await this.config(list.id, list.type, config))! }),
      ...(options.ifVersion === undefined ? {} : { ifVersion: options.ifVersion }),
    })
  }

  private async changed(id: string, change: ListChange): Promise<Types.Allowlist> {
    const outcome = await this.engine.lists.update(id, change, this.clock.now())
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
      if (attempt === PAUSE_ATTEMPTS) return this.changed(list.id, change)
      try {
        return await this.changed(list.id, { ...change, ifVersion: list.version })
      } catch (error) {
        if (!isCatracaError(error, 'VERSION_MISMATCH')) throw error
      }
    }
  }

  async resume(id: string, options: { ifVersion?: number } = {}): Promise<Types.Allowlist> {
    const { list, config } = await this.wave(id)
    const rule = resumedConfig(config)
    if (rule === undefined) throw new CatracaError('WAVE_NOT_PAUSED', `${list.id} is not paused`)
    // Uses the version that was read, so that a rule saved since then is not overwritten.
    return this.changed(list.id, { config: rule, ifVersion: options.ifVersion ?? list.version })
  }

  private async wave(id: string): Promise<{ list: ListRecord; config: StoredConfig }> {
    const list = await this.record(id)
    if (list.config !== undefined) return { list, config: list.config }
    throw new CatracaError('WRONG_ALLOWLIST_TYPE', `${list.id} is a FIXA list: it has members, not a rule`)
  }

  async delete(id: string): Promise<void> {
    const { id: listId } = await this.record(id)
    await checkUnused(this.engine.lists, listId)
    if (!(await this.engine.lists.delete(listId, this.clock.now()))) missing(listId)
    this.search.forget()
    this.parts.sweepSoon()
  }

  async add(id: string, customerId: string, input: Types.MemberInput = {}): Promise<Types.AddResult> {
    const customer = identifier('customerId', customerId)
    const attributes = parseMemberInput('', input)
    const since = monotonicMs()
    const list = await this.engine.members.readFirst(this.fixa(id), since)
    if (list.precision === 'trusted' && attributes.expiresAt !== undefined) {
      throw invalid('expiresAt', 'cannot be given on a trusted list')
    }
    const result = await this.engine.members.add(list.id, customer, attributes, this.clock.now(), since)
    if (result.outcome === 'list-not-found') return missing(list.id)
    const { outcome, customerCount, token } = result
    return { added: outcome === 'added', customerCount, token }
  }

  async remove(id: string, customerId: string): Promise<Types.RemoveResult> {
    const customer = identifier('customerId', customerId)
    const since = monotonicMs()
    const list = await this.engine.members.readFirst(this.fixa(id), since)
    const result = await this.engine.members.remove(list.id, customer, this.clock.now(), since)
    if (result.outcome === 'list-not-found') return missing(list.id)
    const { outcome, customerCount, token } = result
    return { removed: outcome === 'removed', customerCount, token }
  }

  async member(id: string, customerId: string): Promise<Types.Member> {
    const customer = identifier('customerId', customerId)
    const list = await this.fixa(id)
    const member = await this.engine.members.get(list.id, customer)
    if (member === undefined)
      throw new CatracaError('MEMBER_NOT_FOUND', `${customer} is not a member of ${list.id}`)
    return publicMember(member)
  }

  async members(id: string, page: Types.PageRequest = {}): Promise<Types.Page<Types.Member>> {
    const { limit, after } = parsePage(page)
    const list = await this.fixa(id)
    const found = await this.engine.members.page(list.id, after, limit)
    if (found === undefined) return missing(list.id)
    return paged(found.members.map(publicMember), found.next)
  }

  async listsOf(
    customerId: string,
    page: Types.PageRequest = {},
  ): Promise<Types.Page<Types.CustomerAllowlist>> {
    const { limit, after } = parsePage(page)
    const found = await this.engine.members.listsOf(identifier('customerId', customerId), after, limit)
    const items = found.map(({ list, member }) => {
      const { addedAt, expiresAt } = publicMember(member)
      const item: Types.CustomerAllowlist = { allowlistId: list.id, name: list.name, addedAt }
      return expiresAt === undefined ? item : { ...item, expiresAt }
    })
    return paged(items, found.length === limit ? found.at(-1)?.list.id : undefined)
  }

  async import(
    id: string,
    body: AsyncIterable<Uint8Array>,
    options: Types.ImportOptions = {},
  ): Promise<Types.ImportResult> {
    const mode = oneOf('mode', options.mode ?? 'add', ['add', 'replace'])
    const format = oneOf('format', options.format ?? 'csv', ['csv', 'ndjson', 'text'])
    const importId = options.importId === undefined ? randomUUID() : identifier('importId', options.importId)
    if (options.addedBy !== undefined) parseMemberInput('', { addedBy: options.addedBy })
    const { maxErrors = 1, column } = options
    if (column !== undefined && format !== 'csv') throw invalid('column', 'applies to csv only')
    if (column !== undefined && (typeof column !== 'string' || column.length < 1 || column.length > 256)) {
      throw invalid('column', 'must be a heading of 1 to 256 characters, or a number from 1')
    }
    if (!Number.isInteger(maxErrors) || maxErrors < 1 || maxErrors > MAX_RETURNED_ERRORS) {
      throw invalid('maxErrors', `must be a whole number from 1 to ${MAX_RETURNED_ERRORS}`)
    }
    const list = await this.fixa(id)
    return this.parts.runImport(list, body, { ...options, mode, format, importId })
  }

  async importStatus(id: string, importId: string): Promise<Types.ImportStatus> {
    const name = identifier('importId', importId)
    const list = await this.fixa(id)
    const record = await this.engine.bulk.status(list.id, name, this.clock.now())
    if (record === undefined) throw new CatracaError('IMPORT_NOT_FOUND', `${list.id} has no import ${name}`)
    const { listId, startedAt, updatedAt, inputDigest: _, run: __, ...rest } = record
    return { ...rest, allowlistId: listId, startedAt: isoTime(startedAt), updatedAt: isoTime(updatedAt) }
  }

  async *export(id: string, options: Types.ExportOptions = {}): AsyncGenerator<Uint8Array> {
    KNOWN_OF_EXPORT.check(options)
    const format = oneOf('format', options.format ?? 'csv', ['csv', 'ndjson', 'text'])
    const { spreadsheet = false } = options
    if (spreadsheet && format !== 'csv') throw invalid('spreadsheet', 'needs the format csv')
    const list = await this.fixa(id)
    yield* exportMembers(spreadsheet ? 'spreadsheet' : format, this.pages(list.id))
  }

  private async *pages(listId: string): AsyncGenerator<MemberRecord[]> {
    let after: string | undefined
    do {
      const page = await this.engine.members.page(listId, after, EXPORT_PAGE)
      if (page === undefined) return missing(listId)
      yield page.members
      after = page.next
    } while (after !== undefined)
  }

  async index(id: string): Promise<Types.IndexStatus> {
    const list = await this.fixa(id)
    const { index } = this.engine
    const manifest = await index.manifest(list)
    const builder = await index.builder(list, this.clock.now())
    return indexStatus(list, this.parts.indexes, manifest, builder)
  }

  async rebuild(id: string): Promise<void> {
    await this.parts.indexes.rebuild(await this.fixa(id), true)
  }

  async reshard(id: string, shards: number, options: ReshardCallOptions = {}): Promise<Types.Allowlist> {
    const list = await this.fixa(id)
    if (!Number.isInteger(shards) || shards < 1 || shards > MAX_SHARDS) {
      throw invalid('shards', `must be a whole number from 1 to ${MAX_SHARDS}`)
    }
    const { signal, onProgress } = options
    const outcome = await this.reshardStore().reshard(list.id, shards, {
      ...(signal && { signal }),
      ...(onProgress && {
        onProgress: (moving) =>
          onProgress({
            allowlistId: list.id,
            shardCount: list.shardCount,
            moving: { shards, ...moving },
          }),
      }),
    })
    switch (outcome.outcome) {
      case 'list-not-found':
        return missing(list.id)
      case 'replace-running':
        throw new CatracaError('REPLACE_IN_PROGRESS', `${list.id} is being replaced`)
      case 'reshard-running':
        throw new CatracaError('RESHARD_IN_PROGRESS', `${list.id} is already being moved to other shards`)
      default:
        return this.get(list.id)
    }
  }

  async resharding(id: string): Promise<Types.ReshardStatus> {
    const { id: allowlistId, shardCount } = await this.fixa(id)
    const moving = await this.reshardStore().progress(allowlistId)
    return { allowlistId, shardCount, ...(moving && { moving }) }
  }

  private reshardStore(): ReshardStore {
    const { resharding } = this.parts
    if (resharding !== undefined) return resharding
    throw new CatracaError('STORE_UNSUPPORTED', 'this store does not split lists into shards')
  }

  /** Returns a promise only when the engine must wait, so the server can answer most checks synchronously. */
  checkNow(
    customerId: string,
    allowlistIds: readonly string[],
    options?: Types.CheckOptions,
  ): MaybePromise<Types.CheckAnswer> {
    const customer = identifier('customerId', customerId)
    const lists = listIds(allowlistIds)
    const wanted = options === undefined ? undefined : freshness(options)
    const { figures } = this
    if (figures === undefined) return this.checker.check(customer, lists, wanted)
    return figures.check(() => this.checker.check(customer, lists, wanted))
  }

  async check(
    customerId: string,
    allowlistIds: string[],
    options?: Types.CheckOptions,
  ): Promise<Types.CheckAnswer> {
    return this.checkNow(customerId, allowlistIds, options)
  }

  async explain(customerId: string, allowlistIds: string[]): Promise<Types.Explanation> {
    return this.explainer.explain(identifier('customerId', customerId), listIds(allowlistIds))
  }

  async checkMany(
    question: { customerIds: string[]; allowlists: string[] },
    options?: Types.CheckOptions,
  ): Promise<{ results: Types.CheckAnswer[] }> {
    const customers = customerIds(question.customerIds)
    const lists = listIds(question.allowlists)
    if (customers.length * lists.length > MAX_PAIRS_PER_CHECK) {
      throw invalid('customerIds', `times allowlists must be at most ${MAX_PAIRS_PER_CHECK} pairs`)
    }
    const wanted = options === undefined ? undefined : freshness(options)
    const ask = () => this.checker.checkMany(customers, lists, wanted)
    const { figures } = this
    return { results: await (figures === undefined ? ask() : figures.checkMany(ask)) }
  }
}

function missing(id: string): never {
  throw new CatracaError('ALLOWLIST_NOT_FOUND', `there is no allowlist ${id}`)
}

function oneOf<T extends string>(path: string, value: unknown, choices: readonly T[]): T {
  if (!choices.includes(value as T)) throw invalid(path, `must be ${choices.join(' or ')}`)
  return value as T
}

/** 1 to 256 characters without control characters. Any language. */
function listName(value: unknown): string {
  if (
    typeof value !== 'string' ||
    !/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u.test(value) ||
    value.trim() === ''
  ) {
    throw invalid('name', 'must be 1 to 256 characters, not only spaces, without control characters')
  }
  return value
}

function listIds(ids: unknown): string[] {
  if (!Array.isArray(ids) || ids.length < 1 || ids.length > MAX_LISTS_PER_CHECK) {
    throw invalid('allowlists', `must name 1 to ${MAX_LISTS_PER_CHECK} allowlists`)
  }
  return ids.map((id, i) => plainName(`allowlists[${i}]`, id))
}

function customerIds(ids: unknown): string[] {
  if (!Array.isArray(ids) || ids.length < 1 || ids.length > MAX_CUSTOMERS_PER_CHECK) {
    throw invalid('customerIds', `must name 1 to ${MAX_CUSTOMERS_PER_CHECK} customers`)
  }
  return ids.map((id, i) => identifier(`customerIds[${i}]`, id))
}

export const CHECK_FIELDS: Fields<Types.CheckOptions> = { consistency: true, atLeast: true }
const KNOWN_OF_CHECK = new KnownFields(CHECK_FIELDS)
const EXPORT_FIELDS: Fields<Types.ExportOptions> = { format: true, spreadsheet: true }
const KNOWN_OF_EXPORT = new KnownFields(EXPORT_FIELDS)

function freshness(options: Types.CheckOptions): Freshness {
  KNOWN_OF_CHECK.check(options)
  const { consistency, atLeast } = options
  if (consistency !== undefined && consistency !== 'strong') throw invalid('consistency', 'must be strong')
  if (atLeast !== undefined && (typeof atLeast !== 'string' || atLeast.length > MAX_TOKEN_LENGTH)) {
    throw invalid('atLeast', 'is not a token that a write returned')
  }
  return consistency ?? (atLeast === undefined ? undefined : { atLeast })
}

function paged<T>(items: T[], lastId: string | undefined): Types.Page<T> {
  return lastId === undefined ? { items } : { items, nextCursor: makeCursor(lastId) }
}

function publicList({
  incarnation: _,
  salt: __,
  config,
  createdAt,
  updatedAt,
  ...list
}: ListRecord): Types.Allowlist {
  return {
    ...list,
    ...(config && publicRule(config)),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}

function publicRule(stored: StoredConfig): Pick<Types.Allowlist, 'config' | 'paused'> {
  const { paused, ...config } = stored
  if (paused === undefined) return { config: stored }
  return { config, paused: { at: isoTime(paused.at), config: resumedConfig(stored)! } }
}

function publicMember({ addedAt, expiresAt, ...rest }: MemberRecord): Types.Member {
  const member: Types.Member = { ...rest, addedAt: new Date(addedAt).toISOString() }
  return expiresAt === undefined ? member : { ...member, expiresAt: new Date(expiresAt).toISOString() }
}
