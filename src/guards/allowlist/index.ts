import type { Clock } from '../../core/clock.js'
import { monotonicMs } from '../../core/deadlines.js'
import { CatracaError, invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { MaybePromise } from '../../core/maybe-promise.js'
import type { AllowlistsApi, ReshardCallOptions } from './api.js'
import type { CheckFigures } from './check-figures.js'
import { Checker } from './checker.js'
import { Explainer, type TracedStore } from './explainer.js'
import { exportMembers } from './export.js'
import { exportForm, freshness, importOptions, listIds, type ParsedImport, pairs } from './input.js'
import { Lists, missing } from './lists.js'
import { parseMemberInput } from './member-input.js'
import { type Indexes, indexStatus } from './membership/indexes.js'
import { parsePage } from './paging.js'
import type { AllowlistEngine, ListRecord, MemberRecord, ReshardStore, TimedMembers } from './port.js'
import { paged, publicImport, publicList, publicMember } from './public-form.js'
import type * as Types from './types.js'
import { UnreadableReports } from './unreadable.js'

const EXPORT_PAGE = 1000
const MAX_SHARDS = 1000

/** Runs an import outside the thread that answers checks. */
export type ImportRunner = (
  list: ListRecord,
  body: AsyncIterable<Uint8Array>,
  options: ParsedImport,
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
  private readonly lists: Lists

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
    this.lists = new Lists(parts.engine.lists, parts.clock)
    this.explainer = new Explainer(parts.traced, parts.clock, parts.onUnavailable)
  }

  create(input: Types.NewAllowlist): Promise<Types.Allowlist> {
    return this.lists.create(input)
  }

  async get(id: string): Promise<Types.Allowlist> {
    return publicList(await this.lists.record(id))
  }

  list(query: Types.AllowlistQuery = {}): Promise<Types.AllowlistPage> {
    return this.lists.page(query)
  }

  update(
    id: string,
    change: Types.AllowlistChange,
    options: { ifVersion?: number } = {},
  ): Promise<Types.Allowlist> {
    return this.lists.update(id, change, options)
  }

  pause(id: string): Promise<Types.Allowlist> {
    return this.lists.pause(id)
  }

  resume(id: string, options: { ifVersion?: number } = {}): Promise<Types.Allowlist> {
    return this.lists.resume(id, options)
  }

  async delete(id: string): Promise<void> {
    await this.lists.delete(id)
    this.parts.sweepSoon()
  }

  async add(id: string, customerId: string, input: Types.MemberInput = {}): Promise<Types.AddResult> {
    const customer = identifier('customerId', customerId)
    const attributes = parseMemberInput('', input)
    const since = monotonicMs()
    const list = await this.engine.members.readFirst(this.lists.fixa(id), since)
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
    const list = await this.engine.members.readFirst(this.lists.fixa(id), since)
    const result = await this.engine.members.remove(list.id, customer, this.clock.now(), since)
    if (result.outcome === 'list-not-found') return missing(list.id)
    const { outcome, customerCount, token } = result
    return { removed: outcome === 'removed', customerCount, token }
  }

  async member(id: string, customerId: string): Promise<Types.Member> {
    const customer = identifier('customerId', customerId)
    const list = await this.lists.fixa(id)
    const member = await this.engine.members.get(list.id, customer)
    if (member === undefined)
      throw new CatracaError('MEMBER_NOT_FOUND', `${customer} is not a member of ${list.id}`)
    return publicMember(member)
  }

  async members(id: string, page: Types.PageRequest = {}): Promise<Types.Page<Types.Member>> {
    const { limit, after } = parsePage(page)
    const list = await this.lists.fixa(id)
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
    const parsed = importOptions(options)
    const list = await this.lists.fixa(id)
    return this.parts.runImport(list, body, parsed)
  }

  async importStatus(id: string, importId: string): Promise<Types.ImportStatus> {
    const name = identifier('importId', importId)
    const list = await this.lists.fixa(id)
    const record = await this.engine.bulk.status(list.id, name, this.clock.now())
    if (record === undefined) throw new CatracaError('IMPORT_NOT_FOUND', `${list.id} has no import ${name}`)
    return publicImport(record)
  }

  async *export(id: string, options: Types.ExportOptions = {}): AsyncGenerator<Uint8Array> {
    const form = exportForm(options)
    const list = await this.lists.fixa(id)
    yield* exportMembers(form, this.pages(list.id))
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
    const list = await this.lists.fixa(id)
    const { index } = this.engine
    const manifest = await index.manifest(list)
    const builder = await index.builder(list, this.clock.now())
    return indexStatus(list, this.parts.indexes, manifest, builder)
  }

  async rebuild(id: string): Promise<void> {
    await this.parts.indexes.rebuild(await this.lists.fixa(id), true)
  }

  async reshard(
    id: string,
    shards: number,
    { signal, onProgress }: ReshardCallOptions = {},
  ): Promise<Types.Allowlist> {
    const { id: allowlistId, shardCount } = await this.lists.fixa(id)
    if (!Number.isInteger(shards) || shards < 1 || shards > MAX_SHARDS)
      throw invalid('shards', `must be a whole number from 1 to ${MAX_SHARDS}`)
    const { outcome } = await this.reshardStore().reshard(allowlistId, shards, {
      ...(signal && { signal }),
      ...(onProgress && {
        onProgress: (moving) => onProgress({ allowlistId, shardCount, moving: { shards, ...moving } }),
      }),
    })
    if (outcome === 'list-not-found') return missing(allowlistId)
    if (outcome === 'replace-running')
      throw new CatracaError('REPLACE_IN_PROGRESS', `${allowlistId} is being replaced`)
    if (outcome === 'reshard-running')
      throw new CatracaError('RESHARD_IN_PROGRESS', `${allowlistId} is already being moved to other shards`)
    return this.get(allowlistId)
  }

  async resharding(id: string): Promise<Types.ReshardStatus> {
    const { id: allowlistId, shardCount } = await this.lists.fixa(id)
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
    const wanted = freshness(options)
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
    const { customers, lists } = pairs(question)
    const wanted = freshness(options)
    const ask = () => this.checker.checkMany(customers, lists, wanted)
    const { figures } = this
    return { results: await (figures === undefined ? ask() : figures.checkMany(ask)) }
  }
}
