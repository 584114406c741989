import { randomBytes } from 'node:crypto'
import { type Clock, isoTime } from '../../core/clock.js'
import { ChangeDeadlines } from '../../core/deadlines.js'
import { CatracaError, invalid } from '../../core/errors.js'
import { KnownFields } from '../../core/fields.js'
import { makeCursor } from '../../core/paging.js'
import { type ActorContext, Actors } from './actors.js'
import type { AuditApi } from './api.js'
import { Appender } from './appender.js'
import { boundedText } from './bounded.js'
import { auditCsv } from './csv.js'
import { differences } from './differences.js'
import { DAY_MS, entryId } from './entry-id.js'
import { parseQuery } from './filter.js'
import { type AuditStore, MAX_READ, type PreparedEntry, type StoredEntry } from './port.js'
import { parseReason } from './reason.js'
import type { AuditEntry, AuditOptions, AuditPage, AuditQuery, AuditStats } from './types.js'

const KNOWN_OF_EXPORT = new KnownFields({
  ...{ target: true, actor: true, search: true, action: true, from: true, to: true },
})
const KNOWN_OF_ACTOR = new KnownFields({ name: true, reason: true })

interface AuditDependencies {
  store: AuditStore
  clock: Clock
  options: AuditOptions
  /** How long a change and its audit entry may take together. */
  changeTimeoutMs: number
  report: (message: string, error: unknown) => void
}

/** The change itself, without actor and time. */
export type AuditedAction = Pick<AuditEntry, 'action' | 'target' | 'before' | 'after' | 'outcome' | 'detail'>

/** The outcomes that are recorded, each with the detail that it adds. */
export type Outcomes = Readonly<Record<string, Record<string, unknown> | 'plain'>>

/** The most entries that one call of `list` reads. A page with fewer matches than its limit then still has a cursor. */
const MAX_SCANNED = 5000
const MAX_READS = 20
const MAX_PAGE = 1000
const MAX_EXPORTED = 100_000
const MAX_NAME = 256
const SHORT = 1000

/** The audit trail: who changed what, when, from what to what. Entries are appended and read, never changed. */
export class AuditTrail implements AuditApi {
  /** Covers a change and its entry together, because the caller makes one call. */
  readonly deadlines: ChangeDeadlines
  private readonly appender: Appender
  private readonly actors: Actors
  private readonly process = randomBytes(4).toString('hex')
  private number = 0
  private readonly counts: AuditStats = { entries: {}, failures: 0 }

  constructor(private readonly dependencies: AuditDependencies) {
    const { store, clock, options } = dependencies
    this.appender = new Appender(store, clock, options.retentionDays)
    const { actor, reason } = options
    this.actors = new Actors(reason === undefined ? { actor } : { actor, reason })
    this.deadlines = new ChangeDeadlines(dependencies.changeTimeoutMs)
  }

  get isEnabled(): boolean {
    return this.dependencies.options.enabled
  }

  /** Runs the work. Its changes are recorded with this actor, this reason, or both. */
  as<T>(who: { name?: string; reason?: string }, work: () => T): T {
    KNOWN_OF_ACTOR.check(who)
    const acting = { ...this.current() }
    const { reason, name = reason === undefined ? '' : acting.actor.name } = who
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) {
      throw invalid('name', `must be 1 to ${MAX_NAME} characters`)
    }
    if (who.name !== undefined) acting.actor = { kind: 'library', name }
    if (reason !== undefined) acting.reason = parseReason('reason', reason)
    return this.acting(acting, work)
  }

  /** Like `as`, for callers that know more about the actor. */
  acting<T>(acting: ActorContext, work: () => T): T {
    return this.actors.run(acting, work)
  }

  /** The current actor. Read it when a call begins, before any `await`. */
  current(): ActorContext {
    return this.actors.current()
  }

  /**
   * Writes the entries. Resolves when they are written, or when writing failed and `onFailure` is `report`.
   * `since`: when the change began; change and entries share one deadline.
   */
  async record(
    acting: ActorContext,
    auditedActions: readonly AuditedAction[],
    since?: number,
  ): Promise<void> {
    const { options, report } = this.dependencies
    try {
      const adding = this.appender.add(auditedActions.map((audited) => this.stored(acting, audited)))
      await this.deadlines.within(adding, since)
    } catch (error) {
      this.counts.failures += auditedActions.length
      // The log names only the action: ids of customers do not belong in logs.
      report(`an audit entry could not be written (${auditedActions[0]?.action})`, error)
      if (options.onFailure === 'fail') throw notRecorded(error)
      return
    }
    for (const audited of auditedActions) this.countStored(audited)
  }

  /** Prepares an entry that the engine stores together with the change: the action, with the detail of each outcome. */
  prepareEntry(audited: AuditedAction, outcomes: Outcomes): PreparedEntry {
    const acting = this.current()
    const at = this.dependencies.clock.now()
    const plain = textOf(acting, audited, at)
    const texts: Record<string, string> = {}
    for (const outcome in outcomes) {
      const detail = outcomes[outcome]!
      if (detail === 'plain') texts[outcome] = plain
      // Detail is the last field of the text. Most texts are short, so the common part is serialised once.
      else if (plain.length < SHORT)
        texts[outcome] = `${plain.slice(0, -1)},"detail":${JSON.stringify(detail)}}`
      else texts[outcome] = textOf(acting, { ...audited, detail }, at)
    }
    return { id: this.nextId(at), texts }
  }

  countStored({ action }: AuditedAction): void {
    this.counts.entries[action] = (this.counts.entries[action] ?? 0) + 1
  }

  private stored(acting: ActorContext, audited: AuditedAction): StoredEntry {
    const at = this.dependencies.clock.now()
    return { id: this.nextId(at), text: textOf(acting, audited, at) }
  }

  private nextId(at: number): string {
    return entryId(at, this.number++, this.process)
  }

  async list(query: AuditQuery = {}): Promise<AuditPage> {
    const { store, clock, options } = this.dependencies
    const now = clock.now()
    // Clocks of other processes may be ahead.
    const filter = parseQuery(query, now - options.retentionDays * DAY_MS, now + DAY_MS)
    const atOnce = filter.isNarrow ? MAX_READ : Math.min(MAX_READ, filter.limit)
    const items: AuditEntry[] = []
    let position = filter.below
    let scanned = 0
    for (let reads = 0; reads < MAX_READS && scanned < MAX_SCANNED; reads++) {
      const part = await store.read(position, filter.from, atOnce)
      for (const entry of part.entries) {
        if (items.length === filter.limit) return { items, nextCursor: makeCursor(position) }
        position = entry.id
        const read = readEntry(entry)
        if (filter.matches(read)) items.push(withDifferences(read))
      }
      if (part.next === undefined) return { items }
      position = part.next
      scanned += part.entries.length
      if (items.length === filter.limit) break
    }
    return { items, nextCursor: makeCursor(position) }
  }

  /** Every entry that matches, as CSV. Ends after `MAX_EXPORTED` entries. */
  export(query: Omit<AuditQuery, 'limit' | 'cursor'> = {}): AsyncGenerator<Uint8Array> {
    KNOWN_OF_EXPORT.check(query)
    return auditCsv(this.pages(query))
  }

  private async *pages(query: AuditQuery): AsyncGenerator<AuditEntry[]> {
    let cursor: string | undefined
    let exported = 0
    do {
      const page = await this.list({ ...query, limit: MAX_PAGE, ...(cursor !== undefined && { cursor }) })
      yield page.items
      exported += page.items.length
      cursor = page.nextCursor
    } while (cursor !== undefined && exported < MAX_EXPORTED)
  }

  stats(): AuditStats {
    return { entries: { ...this.counts.entries }, failures: this.counts.failures }
  }

  sweep(now: number): Promise<{ more: boolean }> {
    const { store, options } = this.dependencies
    return store.sweep(now - options.retentionDays * DAY_MS)
  }
}

function textOf(
  { actor, reason, requestId, requestIdFrom }: ActorContext,
  audited: AuditedAction,
  at: number,
): string {
  const { action, target, before, after, outcome, detail } = audited
  // JSON leaves out fields that are undefined.
  const who = { at: isoTime(at), actor }
  const what = { action, target, before, after, reason, outcome }
  const entry = { ...who, ...what, requestId, requestIdFrom, detail }
  return boundedText(entry)
}

function withDifferences(entry: AuditEntry): AuditEntry {
  const { before, after } = entry
  const changes = differences(before, after)
  return changes.length === 0 ? entry : { ...entry, changes }
}

function readEntry({ id, text }: StoredEntry): AuditEntry {
  try {
    return { id, ...(JSON.parse(text) as Omit<AuditEntry, 'id'>) }
  } catch (cause) {
    throw new CatracaError('STORE_CORRUPT', `the audit entry ${id} cannot be read`, { cause })
  }
}

function notRecorded(cause: unknown): CatracaError {
  const message = 'the change was made, but could not be recorded in the audit trail'
  return new CatracaError('AUDIT_NOT_RECORDED', message, { cause, facts: { changed: true } })
}
