import type { Clock } from '../../core/clock.js'
import { monotonicMs } from '../../core/deadlines.js'
import { CatracaError, invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { MaybePromise } from '../../core/maybe-promise.js'
import { makeCursor, parsePage } from '../../core/paging.js'
import type { AllowlistsApi, ReshardCallOptions } from './api.js'
import type { CheckFigures } from './check-figures.js'
import { Checker } from './checker.js'
import { Explainer, type TracedStore } from './explainer.js'
import { exportMembers } from './export.js'
import { Flags } from './flags/flags.js'
import { type Candidates, passing } from './in-wave.js'
import {
  exportForm,
  freshness,
  importOptions,
  listIds,
  memberPrefix,
  oneOf,
  type ParsedImport,
  pairs,
} from './input.js'
import { Lists, missing } from './lists.js'
import { parseMemberInput } from './member-input.js'
import { indexStatus } from './membership/index-status.js'
import type { Indexes } from './membership/indexes.js'
import type {
  AllowlistEngine,
  CheckedList,
  ListRecord,
  MemberRecord,
  ReshardStore,
  TimedMembers,
} from './port.js'
import { paged, publicImport, publicList, publicMember } from './public-form.js'
import type * as Types from './types.js'
import { UnreadableReports } from './unreadable.js'
import type { WithoutStore } from './verdict.js'

const EXPORT_PAGE = 1000
const MAX_SHARDS = 1000
const MAX_IMPORTS = 100
const MAX_EXPLAINED = 200
/** Lists of another type that one call passes over. */
const MAX_LOOKED_AT = 1000
const MAX_SAMPLE = 100
/** A sample of a wave that lets few customers pass must end too. */
const MAX_EXAMINED_MEMBERS = 20_000

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
  withoutStore: WithoutStore
  /** A token for what checks of the list see now. Undefined if they do not see it from memory. */
  tokenNow: (list: CheckedList) => string | undefined
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
  /** Lists and waves as boolean feature flags. */
  readonly flags: Flags

  constructor(private readonly parts: AllowlistsParts) {
    this.figures = parts.figures
    this.engine = parts.engine
    this.clock = parts.clock
    const unreadable = new UnreadableReports(parts.report)
    this.checker = new Checker(parts.engine.checks, parts.clock, parts.withoutStore, (id, error) =>
      unreadable.add(id, error),
    )
    this.lists = new Lists(parts.engine.lists, parts.clock)
    this.explainer = new Explainer(parts.traced, parts.clock, parts.withoutStore)
    this.flags = new Flags({
      check: (customerId, ids, options) => this.checked(customerId, ids, options),
      lists: parts.engine.lists,
      checks: parts.engine.checks,
      tokenNow: parts.tokenNow,
      imageOf: ({ incarnation }) => {
        const { index } = parts.indexes.get(incarnation)
        return { changes: index?.changes, isStale: index !== undefined && parts.indexes.isStale(index) }
      },
    })
  }

  create(input: Types.NewAllowlist): Promise<Types.Allowlist> {
    return this.lists.create(input)
  }

  async get(id: string): Promise<Types.Allowlist> {
    return publicList(await this.lists.record(id), this.clock.now())
  }

  list(query: Types.AllowlistQuery = {}): Promise<Types.AllowlistPage> {
    return this.lists.page(query)
  }

  /** The waves whose base or exclusion this list is. */
  async usedBy(id: string): Promise<Types.ListUse[]> {
    return this.lists.usedBy(id)
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

  resume(id: string, options: Types.ResumeOptions = {}): Promise<Types.Allowlist> {
    return this.lists.resume(id, options)
  }

  async delete(id: string): Promise<void> {
    await this.lists.delete(id)
    this.parts.sweepSoon()
  }

  async changeAll(changes: readonly Types.ListSetChange[]): Promise<{ changed: number }> {
    const answer = await this.lists.changeAll(changes)
    if (changes.some(({ list }) => list === undefined)) this.parts.sweepSoon()
    return answer
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

  async members(id: string, query: Types.MemberQuery = {}): Promise<Types.Page<Types.Member>> {
    const { limit, after } = parsePage(query)
    const prefix = memberPrefix(query.prefix)
    const list = await this.lists.fixa(id)
    const found = await this.engine.members.page(list.id, after, limit, prefix)
    if (found === undefined) return missing(list.id)
    const members = found.members.filter(({ customerId }) => customerId.startsWith(prefix ?? ''))
    return paged(members.map(publicMember), found.next)
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

  /** Imports of the last days, the latest first. */
  async imports(id: string, { limit = 20 }: { limit?: number } = {}): Promise<Types.ImportStatus[]> {
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_IMPORTS)
      throw invalid('limit', `must be a whole number from 1 to ${MAX_IMPORTS}`)
    const list = await this.lists.fixa(id)
    return (await this.engine.bulk.list(list.id, limit, this.clock.now())).map(publicImport)
  }

  async *export(id: string, options: Types.ExportOptions = {}): AsyncGenerator<Uint8Array> {
    const form = exportForm(options)
    const list = await this.lists.record(id)
    const members = list.type === 'FIXA' ? this.pages(list.id) : this.passingPages(list)
    yield* exportMembers(form, members)
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
    return this.checked(customer, listIds(allowlistIds), options)
  }

  private checked(
    customer: string,
    lists: readonly string[],
    options: Types.CheckOptions | undefined,
  ): MaybePromise<Types.CheckAnswer> {
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

  /** Explains all lists, page by page. */
  async explainAll(customerId: string, query: Types.ExplainQuery = {}): Promise<Types.Explanation> {
    const customer = identifier('customerId', customerId)
    const { type, outcome } = query
    if (type !== undefined) oneOf('type', type, ['FIXA', 'ONDA'])
    if (outcome !== undefined) oneOf('outcome', outcome, ['allowed', 'denied'])
    const { limit, after } = parsePage(query)
    if (limit > MAX_EXPLAINED) throw invalid('limit', `must be at most ${MAX_EXPLAINED}`)
    const { ids, next } = await this.idsOfType(type, after, limit)
    const explained = await this.explainer.explain(customer, ids)
    const isWanted = ({ allowed }: Types.ExplainedResult) =>
      outcome === undefined || allowed === (outcome === 'allowed')
    const results = explained.results.filter(isWanted)
    const overallAllowed = results.every(({ allowed }) => allowed)
    return {
      ...explained,
      results,
      overallAllowed,
      ...(next !== undefined && { nextCursor: makeCursor(next) }),
    }
  }

  /** The next lists of a type, looked for among some. `next`: where to look further. */
  private async idsOfType(type: Types.AllowlistType | undefined, after: string | undefined, limit: number) {
    const size = type === undefined ? limit : MAX_LOOKED_AT
    const lists = await this.engine.lists.page(after, size)
    const found = lists.filter((list) => type === undefined || list.type === type).slice(0, limit)
    const last = found.length === limit ? found.at(-1) : lists.at(-1)
    const isMore = lists.length === size || last !== lists.at(-1)
    return { ids: found.map(({ id }) => id), next: isMore ? last?.id : undefined }
  }

  /** Some customers who pass a wave now, from its base. */
  async sample(id: string, { limit = 20 }: { limit?: number } = {}): Promise<Types.WaveSample> {
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_SAMPLE)
      throw invalid('limit', `must be a whole number from 1 to ${MAX_SAMPLE}`)
    const wave = await this.lists.wave(id)
    const items: Types.WaveSample['items'] = []
    let examined = 0
    for await (const part of passing(this.candidates(), wave)) {
      examined += part.examined
      items.push(...part.members.map(({ customerId }) => ({ customerId })))
      if (items.length >= limit || examined >= MAX_EXAMINED_MEMBERS) {
        return { items: items.slice(0, limit), examined, more: true }
      }
    }
    return { items, examined, more: false }
  }

  private candidates(): Candidates {
    return {
      record: (id) => this.lists.record(id),
      pages: (listId) => this.pages(listId),
      check: (customerIds, listId) => this.checker.checkMany([...customerIds], [listId], undefined),
    }
  }

  private async *passingPages(wave: ListRecord): AsyncGenerator<MemberRecord[]> {
    for await (const { members } of passing(this.candidates(), wave)) yield members
  }

  async explain(customerId: string, allowlistIds: string[]): Promise<Types.Explanation> {
    return this.explainer.explain(identifier('customerId', customerId), listIds(allowlistIds))
  }

  /** `pause`: what is waited for between two parts of a large check; when it is rejected, the check ends. */
  async checkMany(
    question: { customerIds: string[]; allowlists: string[] },
    options?: Types.CheckOptions,
    pause?: () => Promise<void>,
  ): Promise<{ results: Types.CheckAnswer[] }> {
    const { customers, lists } = pairs(question)
    const wanted = freshness(options)
    const ask = () => this.checker.checkMany(customers, lists, wanted, pause)
    const { figures } = this
    return { results: await (figures === undefined ? ask() : figures.checkMany(ask)) }
  }
}
