import type { SharedList } from './board.js'
import type { Asked } from './board-store.js'

interface Use {
  /** When it was last used, or asked for. */
  atMs: number
  logsAtMs: number
  /** Uses of which each came soon after the one before. */
  inARow: number
}

/** Somebody who uses a list asks for it again long before. */
const KEPT_MS = 600_000
const MAX_LISTS = 5000
/** The leader reads a list all the time, which costs more than reading it where it is seldom used. */
const OFTEN = 3
/** The item of what all ask for has 400 KB at most, each write of it costs by its size, and the leader empties it. */
const MAX_ASKED_CHARACTERS = 16_000

const LISTS = 'm'
const LOGS = 'l'

/** Which lists are used here, and which ones other processes asked for. */
export class Interest {
  private readonly own = new Map<string, Use>()
  private readonly others = new Map<string, Use>()
  private lastUseMs: number
  private heardMs = Number.NEGATIVE_INFINITY
  /** When somebody last asked, by the clock of DynamoDB. */
  askedAt = 0
  /** Of the lists on the board, how many were asked for again. */
  private turn = 0

  constructor(
    private readonly elapsedMs: () => number,
    /** Uses of a list that are further apart are rare. */
    private readonly oftenMs: number,
  ) {
    this.lastUseMs = elapsedMs()
  }

  /** Logs are followed all the time, records are read when a check needs them. */
  use(id: string, hasLogs: boolean): void {
    this.lastUseMs = this.elapsedMs()
    const last = this.own.get(id)
    const isSoon = last !== undefined && this.lastUseMs - last.atMs <= this.oftenMs
    note(this.own, id, hasLogs, this.lastUseMs, isSoon ? last.inARow + 1 : 1)
  }

  asked({ at, lists }: Asked): void {
    const nowMs = this.elapsedMs()
    // A time from before this process led says nothing about readers of today.
    if (at !== this.askedAt && (this.askedAt !== 0 || lists.length > 0)) this.heardMs = nowMs
    this.askedAt = at
    for (const spelled of lists) {
      note(this.others, spelled.slice(1), spelled[0] === LOGS, nowMs, OFTEN)
    }
  }

  /** Time since the last question of another process, and since the last use here. */
  get heardOfMs(): number {
    return this.elapsedMs() - this.heardMs
  }

  get usedMs(): number {
    return this.elapsedMs() - this.lastUseMs
  }

  /** Lists that are often used here; true if their logs too. */
  wanted(): Map<string, boolean> {
    return this.recent([this.own])
  }

  all(): Map<string, boolean> {
    return this.recent([this.own, this.others])
  }

  /** Whether something is wanted that is not on the board. */
  lacks(board: ReadonlyMap<string, SharedList>): boolean {
    return [...this.wanted()].some((one) => isMissing(board, one))
  }

  /** What to ask for: what is not on the board, and if `all`, also what shall stay there, some of it each time. */
  spelled(board: ReadonlyMap<string, SharedList>, all: boolean): string[] {
    const wanted = [...this.wanted()]
    const held = all ? wanted.filter((one) => !isMissing(board, one)) : []
    const from = held.length === 0 ? 0 : this.turn % held.length
    const missing = wanted.filter((one) => isMissing(board, one))
    const spelled: string[] = []
    let characters = 0
    for (const [id, hasLogs] of [...missing, ...held.slice(from), ...held.slice(0, from)]) {
      characters += 1 + id.length
      if (characters > MAX_ASKED_CHARACTERS) break
      spelled.push((hasLogs ? LOGS : LISTS) + id)
    }
    this.turn = from + Math.max(0, spelled.length - missing.length)
    return spelled
  }

  private recent(maps: Map<string, Use>[]): Map<string, boolean> {
    const from = this.elapsedMs() - KEPT_MS
    const wanted = new Map<string, boolean>()
    for (const map of maps) {
      for (const [id, { atMs, logsAtMs, inARow }] of map) {
        const hasLogs = logsAtMs >= from
        if (atMs < from) map.delete(id)
        else if (hasLogs || inARow >= OFTEN) wanted.set(id, wanted.get(id) === true || hasLogs)
      }
    }
    return wanted
  }
}

function note(uses: Map<string, Use>, id: string, hasLogs: boolean, atMs: number, inARow: number): void {
  const use = uses.get(id)
  if (use === undefined && uses.size >= MAX_LISTS) return
  uses.set(id, { atMs, inARow, logsAtMs: hasLogs ? atMs : (use?.logsAtMs ?? Number.NEGATIVE_INFINITY) })
}

function isMissing(
  board: ReadonlyMap<string, SharedList>,
  [id, hasLogs]: readonly [string, boolean],
): boolean {
  const list = board.get(id)
  return list === undefined || (hasLogs && list.log === undefined)
}
