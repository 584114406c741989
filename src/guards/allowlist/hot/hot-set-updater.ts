import { isReset, readEntry } from '../changes/entry.js'
import type { ChangeFeed, ListRef, LogEntry, Position } from '../changes/port.js'
import { readCustomerKey } from '../customer-key.js'
import type { CheckedList, CheckStore, Freshness } from '../port.js'
import type { HotContent, HotMember, HotSets, HotSetWriter, MemberSource } from './port.js'

export interface HotSetUpdaterParts {
  sets: Pick<HotSets, 'claim'>
  /** The store of the engine itself. */
  checks: CheckStore
  changes: ChangeFeed
  source: MemberSource
  report(message: string, error: unknown): void
}

/** Members written per call. */
const PER_CALL = 1000
/**
 * A lost set is loaded again at once if loading is quick. Otherwise the updater waits
 * this many times the load duration.
 */
const QUICK_MS = 2000
const REST_FACTOR = 10
/** How long to wait until the log contains the replace of a list. Loading earlier would mean loading twice. */
const LOG_WAIT_MS = 10_000

/** Keeps the set of one list in sync with the store, while this process is its updater. */
export class HotSetUpdater {
  private keeping: HotSetWriter | undefined
  private restUntilMs = Number.NEGATIVE_INFINITY
  private changedSinceMs: number | undefined
  private closed = false

  constructor(
    private readonly listId: string,
    private readonly parts: HotSetUpdaterParts,
  ) {}

  /** Synchronises the set. True: there is more to do at once. */
  async round(): Promise<boolean> {
    const list = await this.list(undefined)
    const isFixed = list?.type === 'FIXA'
    if ((!isFixed && this.keeping === undefined) || this.closed) return false
    const writer = await this.parts.sets.claim(this.listId)
    this.keeping = writer
    if (writer === undefined) return false
    if (!isFixed) {
      this.keeping = undefined
      if (await writer.drop()) await writer.release()
      return false
    }
    return this.keep(writer, list)
  }

  /** Stops the running round soon. */
  stop(): void {
    this.closed = true
  }

  async release(): Promise<void> {
    await this.keeping?.release()
  }

  private async keep(keeping: HotSetWriter, list: CheckedList): Promise<boolean> {
    const { content } = keeping
    if (content === undefined) {
      return performance.now() < this.restUntilMs ? false : this.load(keeping)
    }
    if (await this.isOf(content, list)) {
      this.changedSinceMs = undefined
      return (await this.follow(keeping, list, content)) ? false : this.load(keeping)
    }
    this.changedSinceMs ??= performance.now()
    const isTold = await this.isTold(list, content.position)
    if (!isTold && performance.now() - this.changedSinceMs < LOG_WAIT_MS) return false
    return this.load(keeping)
  }

  /** The list record used here may be older than the set. */
  private async isOf({ state }: HotContent, list: CheckedList): Promise<boolean> {
    const { stateOf } = this.parts.source
    if (state === stateOf(list)) return true
    const now = await this.list('strong')
    return now !== undefined && state === stateOf(now)
  }

  private async isTold(list: ListRef, position: Position): Promise<boolean> {
    const part = await this.parts.changes.read(list, position)
    return part === 'gap' || part.entries.length > 0
  }

  /** Applies the log to the set, up to its end. False: the set must be loaded. */
  private async follow(keeping: HotSetWriter, list: ListRef, content: HotContent): Promise<boolean> {
    let { position } = content
    for (;;) {
      const askedAtMs = performance.now()
      const part = await this.parts.changes.read(list, position)
      if (part === 'gap') return false
      if (part.entries.length > 0) {
        const next = positionBehind(position, part.entries)
        if (next === undefined || part.entries.some(({ bytes }) => isReset(bytes))) return false
        // Read after the entries: the log entry of a replace is written after the list has changed.
        const now = await this.list('strong')
        if (now === undefined || this.parts.source.stateOf(now) !== content.state) return false
        if (!(await tell(keeping, part.entries, next))) return true
        position = next
      }
      if (part.more) continue
      await keeping.confirm(askedAtMs - (part.ageMs ?? 0))
      return true
    }
  }

  /** True: the set is loaded and must catch up. */
  private async load(keeping: HotSetWriter): Promise<boolean> {
    const { changes, source } = this.parts
    const beganMs = performance.now()
    const list = await this.list('strong')
    // Read the position first: changes during the scan come after it.
    const position = list && (await changes.position(list))
    if (list === undefined || position === undefined || !(await keeping.startLoad())) return false
    this.changedSinceMs = undefined
    for await (const members of source.scan(list)) {
      for (let at = 0; at < members.length; at += PER_CALL) {
        if (this.closed || !(await keeping.load(members.slice(at, at + PER_CALL)))) return this.rest(beganMs)
      }
    }
    const state = source.stateOf(list)
    const after = await this.list('strong')
    const isSame = after !== undefined && source.stateOf(after) === state
    this.rest(beganMs)
    return isSame && (await keeping.finishLoad({ state, position }))
  }

  private rest(beganMs: number): false {
    const now = performance.now()
    const tookMs = now - beganMs
    this.restUntilMs = tookMs > QUICK_MS ? now + REST_FACTOR * tookMs : now
    return false
  }

  private async list(freshness: Freshness): Promise<CheckedList | undefined> {
    return (await this.parts.checks.view(freshness)).list(this.listId)
  }
}

/** Undefined: the entries do not continue from there. */
function positionBehind(position: Position, entries: readonly LogEntry[]): Position | undefined {
  const next = [...position]
  for (const { log, sequence, mark } of entries) {
    if (next[log]?.sequence !== sequence - 1) return undefined
    next[log] = { sequence, mark }
  }
  return next
}

async function tell(
  keeping: HotSetWriter,
  entries: readonly LogEntry[],
  position: Position,
): Promise<boolean> {
  const changes = changesOf(entries)
  for (let at = 0; at + PER_CALL < changes.length; at += PER_CALL) {
    if (!(await keeping.apply(changes.slice(at, at + PER_CALL)))) return false
  }
  const rest = changes.length - (changes.length % PER_CALL || PER_CALL)
  return keeping.apply(changes.slice(Math.max(0, rest)), position)
}

/** The final state of each customer after all entries. */
function changesOf(entries: readonly LogEntry[]): HotMember[] {
  const last = new Map<string, HotMember>()
  const note = (customerId: string, is: HotMember['is']) => void last.set(customerId, { customerId, is })
  for (const { bytes } of entries) {
    readEntry(bytes, {
      added: (key, start, end, _, expiresAt) =>
        note(readCustomerKey(key, start, end), expiresAt === undefined ? 'member' : 'expiring'),
      removed: (key, start, end) => note(readCustomerKey(key, start, end), 'absent'),
    })
  }
  return [...last.values()]
}
