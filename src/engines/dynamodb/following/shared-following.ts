import { randomUUID } from 'node:crypto'
import { later } from '../../../core/timers.js'
import type { ListRef, Position } from '../../../guards/allowlist/changes/port.js'
import type { SharedLogs } from '../feed/change-log.js'
import type { ReadEntry } from '../feed/log-reader.js'
import { type Board, EMPTY_BOARD } from './board.js'
import type { BoardStore, StoredBoard } from './board-store.js'
import { Interest } from './interest.js'
import { type LeaderReads, tableOfPosition } from './leader-reads.js'

interface SharingOptions {
  store: BoardStore
  reads: LeaderReads
  /** How often the leader reads for all. */
  intervalMs: number
  /** The board is not used when it is older. */
  usableMs: number
  /** A list is often used if its uses are at most so far apart. */
  oftenMs: number
  /** Who has seen no new board for this long, or a little longer, leads. */
  leaseMs: number
  now: () => number
  /** The clock of DynamoDB. */
  serverNow: () => number
  elapsedMs: () => number
  random: () => number
  report(message: string, error: unknown): void
}

/** A list as the board knows it. */
interface SeenList {
  digest: string
  /** Its age. */
  ageMs: number
}

/** How often a leader looks who asks for what. */
const HEAR_EVERY_MS = 2000
/** Reads of many lists in one turn share a read of the board. */
const COALESCE_MS = 100
const ASK_REST_MS = 5000
/** After a failure, such as a missing permission, this process reads for itself for a while. */
const FAILED_REST_MS = 10_000
/** A reader is heard of at least once in this time; all readers together ask that often. */
const HEARD_OF_MS = 120_000
const ASK_AFTER_MS = 20_000
/** The lease of a leader that nobody uses ends. */
const IDLE_MS = 60_000

/**
 * One process, the leader, reads the records of lists and the ends of their logs for all, and puts them on a board
 * that everybody reads for half a unit. What the board does not say, or says too late, a process reads itself.
 */
export class SharedFollowing implements SharedLogs {
  private readonly owner = randomUUID()
  private readonly interest: Interest
  private readonly hearEveryMs: number
  /** The board as last read, or written. */
  private seen: { stored: StoredBoard | undefined; askedMs: number } | undefined
  private reading: Promise<Board | undefined> | undefined
  private lastVersion = -1
  private versionSeenMs = 0
  private patience: number
  private asksAfterMs: number
  private lastAskMs = Number.NEGATIVE_INFINITY
  /** Absent: another process leads, or none. */
  private leading: { version: number; board: Board; timer: NodeJS.Timeout | undefined } | undefined
  private round: Promise<void> | undefined
  private takeAskedMs = Number.NEGATIVE_INFINITY
  private restsUntilMs = Number.NEGATIVE_INFINITY
  private isFailing = false
  private isClosed = false

  constructor(private readonly options: SharingOptions) {
    this.hearEveryMs = Math.max(HEAR_EVERY_MS, options.intervalMs)
    this.interest = new Interest(options.elapsedMs, options.oftenMs)
    this.patience = this.drawPatience()
    this.asksAfterMs = this.drawAskTime()
  }

  /** The record of a list, if the board has it. `maxAgeMs`: of the read of the board. */
  async list(id: string, maxAgeMs: number): Promise<SeenList | undefined> {
    this.interest.use(id, false)
    const board = await this.board(maxAgeMs)
    const list = board?.lists.get(id)
    return list && { digest: list.digest, ageMs: Math.max(0, this.options.serverNow() - board!.listsAt) }
  }

  async log(
    { id, incarnation }: ListRef,
    after: Position,
  ): Promise<{ entries: ReadEntry[]; ageMs: number } | undefined> {
    this.interest.use(id, true)
    const at = this.options.now()
    const board = await this.board(COALESCE_MS)
    const log = board?.lists.get(id)?.log
    const until = board?.until[tableOfPosition(after)]
    const isSame = log?.incarnation === incarnation && log.heads.length === after.length
    if (!isSame || until === undefined || after.some(({ mark }) => mark !== log.mark)) return undefined
    const entries: ReadEntry[] = []
    for (const [shard, { sequence, mark }] of after.entries()) {
      const found = board!.entries
        .filter((entry) => entry.listId === id && entry.log === shard && entry.sequence > sequence)
        .sort((a, b) => a.sequence - b.sequence)
      const isConnected = found.every((entry, i) => entry.sequence === sequence + 1 + i)
      // Whoever is ahead of the board reads the log too: in a restored table it may really end before.
      if (!isConnected || sequence + found.length !== log.heads[shard]) return undefined
      entries.push(...found.map(({ listId: _, ...entry }) => ({ ...entry, mark })))
    }
    return { entries, ageMs: Math.max(0, at - until) }
  }

  /** Whether this process reads for the others, as far as it knows. */
  get isLeading(): boolean {
    return this.leading !== undefined
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.leading?.timer)
    await this.round
    await this.reading
    const { leading, options } = this
    this.leading = undefined
    // Another process need not wait for the end of the lease.
    if (leading !== undefined) {
      const free = { ...leading.board, isActive: false }
      await options.store.write(undefined, leading.version, free, options.serverNow()).catch(() => false)
    }
  }

  /** The board, if it is recent and somebody writes it. */
  private async board(maxAgeMs: number): Promise<Board | undefined> {
    if (this.isClosed) return undefined
    const { leading, seen, options } = this
    if (leading !== undefined) return this.usable(leading.board)
    if (seen !== undefined && options.elapsedMs() - seen.askedMs < maxAgeMs) {
      return this.usable(seen.stored?.board)
    }
    if (options.elapsedMs() < this.restsUntilMs) return undefined
    this.reading ??= this.look()
      .catch((error: unknown) => {
        this.restsUntilMs = options.elapsedMs() + FAILED_REST_MS
        if (!this.isClosed) options.report('reading what another process has read failed', error)
        return undefined
      })
      .finally(() => {
        this.reading = undefined
      })
    return this.reading
  }

  private usable(board: Board | undefined): Board | undefined {
    if (board === undefined || !board.isActive) return undefined
    const ageMs = Math.abs(this.options.serverNow() - board.at)
    return ageMs <= this.options.usableMs ? board : undefined
  }

  private async look(): Promise<Board | undefined> {
    const { store, elapsedMs } = this.options
    const askedMs = elapsedMs()
    const stored = await store.read()
    this.seen = { stored, askedMs }
    const version = stored?.version ?? 0
    if (version !== this.lastVersion) {
      this.lastVersion = version
      this.versionSeenMs = askedMs
    }
    const isFree = stored?.owner === undefined
    if (isFree || askedMs - this.versionSeenMs > this.patience) await this.claim(version)
    else await this.askFor(stored.board)
    return this.usable(this.leading?.board ?? stored?.board)
  }

  private async claim(version: number): Promise<void> {
    const { store, serverNow } = this.options
    this.patience = this.drawPatience()
    this.versionSeenMs = this.options.elapsedMs()
    const board = { ...EMPTY_BOARD, at: serverNow() }
    if (!(await store.write(this.owner, version, board, serverNow()))) return
    // Also if this process is closing: then `close` gives the lease back.
    this.leading = { version: version + 1, board, timer: undefined }
    this.takeAskedMs = Number.NEGATIVE_INFINITY
    this.schedule(0)
  }

  /** Readers ask for what is not on the board, and let the leader know that there are any. */
  private async askFor({ isActive, lists, askedAt }: Board): Promise<void> {
    const { store, serverNow, elapsedMs } = this.options
    const isMissing = this.interest.lacks(lists)
    const isLate = serverNow() - askedAt > this.asksAfterMs
    if ((isActive && !isMissing && !isLate) || elapsedMs() - this.lastAskMs < ASK_REST_MS) return
    this.lastAskMs = elapsedMs()
    this.asksAfterMs = this.drawAskTime()
    await store.ask(this.interest.spelled(lists, isLate || !isActive), serverNow())
  }

  private schedule(ms: number): void {
    if (this.leading === undefined || this.isClosed) return
    this.leading.timer = later(() => this.lead(), ms)
    this.leading.timer.unref()
  }

  private lead(): void {
    const begunMs = this.options.elapsedMs()
    this.round = this.oneRound()
      .then(
        () => {
          this.isFailing = false
        },
        (error: unknown) => {
          // Reported once, not twice a second.
          const isNew = !this.isFailing && !this.isClosed
          this.isFailing = true
          if (isNew) this.options.report('reading changes for other processes failed', error)
        },
      )
      .then(() => {
        const everyMs = this.leading?.board.isActive ? this.options.intervalMs : this.hearEveryMs
        this.schedule(Math.max(10, everyMs - (this.options.elapsedMs() - begunMs)))
      })
  }

  private async oneRound(): Promise<void> {
    const { store, reads, serverNow, elapsedMs } = this.options
    const { leading, interest } = this
    if (leading === undefined) return
    if (elapsedMs() - this.takeAskedMs >= this.hearEveryMs) {
      this.takeAskedMs = elapsedMs()
      interest.asked(await store.takeAsked())
    }
    const isActive = interest.heardOfMs < HEARD_OF_MS
    const isUnused = !isActive && interest.usedMs > IDLE_MS
    const content = isActive ? await reads.read(interest.all()) : { ...EMPTY_BOARD, at: serverNow() }
    const board = { ...content, isActive, askedAt: interest.askedAt }
    const owner = isUnused ? undefined : this.owner
    const isMine = await store.write(owner, leading.version, board, serverNow())
    leading.version++
    leading.board = board
    if (isMine && !isUnused) return
    this.leading = undefined
    this.seen = undefined
  }

  /** Not all readers find out at once that the leader is gone. */
  private drawPatience(): number {
    return this.options.leaseMs * (1 + 0.5 * this.options.random())
  }

  private drawAskTime(): number {
    return ASK_AFTER_MS * (1 + this.options.random())
  }
}
