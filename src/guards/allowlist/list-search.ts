import type { Clock } from '../../core/clock.js'
import { invalid } from '../../core/errors.js'
import { invalidCursor, parsePage } from '../../core/paging.js'
import { oneOf } from './input.js'
import type { ListRecord, ListStore } from './port.js'
import { references } from './references.js'
import { type AllowlistQuery, LIST_SORTS, type ListUse } from './types.js'
import { nextTurn, WAVE_STATES, type WaveState, waveNow } from './wave/now.js'

type Sort = (typeof LIST_SORTS)[number]

/** The fields for sorting and searching. The rules of ten thousand waves would not fit in memory. */
interface Row extends Pick<ListRecord, 'id' | 'name' | 'type' | 'updatedAt' | 'customerCount'> {
  /** Id and name for searching, and the name for sorting. */
  text: string
  nameOrder: string
  tags: readonly string[]
  owner: string
  /** Where a wave stood when it was read. */
  state: WaveState | undefined
  nextStepAt: number
  /** The lists that a wave depends on. */
  uses: readonly { id: string; path: string }[]
}

/** A wave without a next step, and a list that is no wave, come last. JSON has no infinity. */
const NEVER = Number.MAX_SAFE_INTEGER
const NO_TAGS: readonly string[] = []

interface Found {
  lists: ListRecord[]
  total: number
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string
}

const SCAN_PAGE = 1000
/** A search covers at most this many lists. Pages without a search reach all. */
const MAX_SCANNED = 50_000
/**
 * A user who types, sorts and pages sends many queries within moments, so a scan is
 * reused. A slow scan is reused for longer.
 */
const KEPT_MS = 2000
const MAX_KEPT_MS = 20_000
const KEPT_TIMES = 2
const MAX_SEARCH_LENGTH = 256
const MAX_CURSOR_LENGTH = 4000

const MARKS = /\p{M}+/gu
const BEYOND_ASCII = /[^\0-\x7f]/
const DIGITS = /\d+/g
const LONG_NUMBER = 16

/** Without accents and case: `verao` finds Verão. */
const folded = (text: string): string =>
  (BEYOND_ASCII.test(text) ? text.normalize('NFKD').replace(MARKS, '') : text).toLowerCase()

/** Compared as plain text, which takes a tenth of the time of a collator. Sorting blocks the thread. */
const nameOrder = (name: string): string =>
  folded(name).replace(DIGITS, (digits) => digits.padStart(LONG_NUMBER, '0'))

const byId = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const COMPARE: Record<Sort, (a: Row, b: Row) => number> = {
  id: () => 0,
  name: (a, b) => byId(a.nameOrder, b.nameOrder),
  updatedAt: (a, b) => a.updatedAt - b.updatedAt,
  customerCount: (a, b) => a.customerCount - b.customerCount,
  nextStepAt: (a, b) => a.nextStepAt - b.nextStepAt,
}

export const isSearch = ({ limit: _, cursor: __, ...criteria }: AllowlistQuery): boolean =>
  Object.values(criteria).some((given) => given !== undefined)

interface Scan {
  rows: Promise<Row[]>
  /** Until then every wave stands where it stood when it was read. */
  nextStepAt: number
  /** Sorted once per scan. */
  sorted: Map<Sort, Promise<readonly Row[]>>
  untilMs: number
}

/** Finds and sorts lists in memory, in the result of a recent scan. */
export class ListSearch {
  private scan: Scan | undefined

  constructor(
    private readonly lists: ListStore,
    private readonly clock: Clock,
  ) {}

  /** Changes of this process are found at once; changes of others, and customer counts, within 2 to 20 seconds. */
  forget(): void {
    this.scan = undefined
  }

  async find(query: AllowlistQuery): Promise<Found> {
    const { sort, order, matches } = parseQuery(query)
    const { limit } = parsePage({ ...(query.limit !== undefined && { limit: query.limit }) })
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor, sort, order)
    const sign = order === 'asc' ? 1 : -1
    const compare = (a: Row, b: Row) => sign * (COMPARE[sort](a, b) || byId(a.id, b.id))
    const matching = (await this.sortedBy(sort)).filter(matches)
    if (order === 'desc') matching.reverse()
    const begin = after === undefined ? 0 : firstBehind(matching, (row) => compare(row, after) > 0)
    const page = matching.slice(begin, begin + limit)
    const records = await Promise.all(page.map(({ id }) => this.lists.get(id)))
    const found = { lists: records.filter((list) => list !== undefined), total: matching.length }
    const isLast = begin + limit >= matching.length
    return isLast ? found : { ...found, nextCursor: makeCursor(page.at(-1)!, sort, order) }
  }

  /** The waves that depend on this list. */
  async usesOf(id: string): Promise<ListUse[]> {
    const rows = await this.sortedBy('id')
    return rows.flatMap(({ id: allowlistId, name, uses }) => {
      const use = uses.find((used) => used.id === id)
      if (use === undefined) return []
      return { allowlistId, name, as: use.path === 'config.base' ? 'base' : 'exclude' }
    })
  }

  private sortedBy(sort: Sort): Promise<readonly Row[]> {
    const { rows, sorted } = this.current()
    let found = sorted.get(sort)
    if (found === undefined) {
      const compare = (a: Row, b: Row) => COMPARE[sort](a, b) || byId(a.id, b.id)
      sorted.set(sort, (found = rows.then((all) => [...all].sort(compare))))
    }
    return found
  }

  private current(): Scan {
    const beganMs = performance.now()
    const isCurrent = ({ untilMs, nextStepAt }: Scan) => beganMs < untilMs && this.clock.now() < nextStepAt
    if (this.scan !== undefined && isCurrent(this.scan)) return this.scan
    const scan: Scan = {
      ...{ rows: this.read(), sorted: new Map() },
      ...{ untilMs: Number.POSITIVE_INFINITY, nextStepAt: Number.POSITIVE_INFINITY },
    }
    this.scan = scan
    scan.rows.then(
      (rows) => {
        for (const { nextStepAt } of rows) scan.nextStepAt = Math.min(scan.nextStepAt, nextStepAt)
        const endedMs = performance.now()
        scan.untilMs = endedMs + Math.min(Math.max(KEPT_MS, KEPT_TIMES * (endedMs - beganMs)), MAX_KEPT_MS)
      },
      () => {
        if (this.scan === scan) this.scan = undefined
      },
    )
    return scan
  }

  private async read(): Promise<Row[]> {
    const rows: Row[] = []
    let after: string | undefined
    do {
      const page = await this.lists.page(after, SCAN_PAGE)
      for (const list of page) rows.push(rowOf(list, this.clock.now()))
      after = page.length === SCAN_PAGE ? page.at(-1)!.id : undefined
    } while (after !== undefined && rows.length < MAX_SCANNED)
    return rows
  }
}

function rowOf(list: ListRecord, now: number): Row {
  const { id, name, type, updatedAt, customerCount, config, tags = NO_TAGS, owner = '' } = list
  return {
    ...{ id, name, type, updatedAt, customerCount, tags, owner: folded(owner) },
    ...{ text: `${folded(id)}\n${folded(name)}`, nameOrder: nameOrder(name) },
    state: config && waveNow(config, now).state,
    nextStepAt: (config && config.paused === undefined && nextTurn(config, now)?.at) || NEVER,
    uses: references(config),
  }
}

/** Text that a query gives. */
function wordOf(path: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= MAX_SEARCH_LENGTH) return folded(value)
  throw invalid(path, `must be at most ${MAX_SEARCH_LENGTH} characters`)
}

/** What a row must fulfil for each field that a query gives. */
const CRITERIA: {
  readonly [Name in keyof AllowlistQuery]?: (value: unknown) => (row: Row) => boolean
} = {
  search(value) {
    const word = wordOf('search', value)
    return ({ text, owner, tags }) =>
      text.includes(word) || owner.includes(word) || tags.some((tag) => folded(tag).includes(word))
  },
  prefix(value) {
    const word = wordOf('prefix', value)
    return ({ text }) => text.startsWith(word) || text.includes(`\n${word}`)
  },
  tag: (value) => {
    const word = wordOf('tag', value)
    return ({ tags }) => tags.some((tag) => folded(tag) === word)
  },
  owner: (value) => {
    const word = wordOf('owner', value)
    return ({ owner }) => owner === word
  },
  type(value) {
    const type = oneOf('type', value, ['FIXA', 'ONDA'])
    return (row) => row.type === type
  },
  state(value) {
    const state = oneOf('state', value, WAVE_STATES)
    return (row) => row.state === state
  },
  nextStepBefore(value) {
    const before = typeof value === 'string' ? Date.parse(value) : Number.NaN
    if (Number.isNaN(before)) throw invalid('nextStepBefore', 'must be a time in ISO 8601')
    return ({ nextStepAt }) => nextStepAt < before
  },
}

function parseQuery({ limit: _, cursor: __, sort = 'id', order = 'asc', ...criteria }: AllowlistQuery) {
  oneOf('sort', sort, LIST_SORTS)
  oneOf('order', order, ['asc', 'desc'])
  const tests = Object.entries(criteria).flatMap(([name, value]) =>
    value === undefined ? [] : CRITERIA[name as keyof AllowlistQuery]!(value),
  )
  return { sort, order, matches: (row: Row) => tests.every((test) => test(row)) }
}

/** Index of the first row after the cursor. */
function firstBehind(rows: Row[], isBehind: (row: Row) => boolean): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBehind(rows[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

const NO_ROW: Row = {
  ...{ id: '', name: '', type: 'FIXA', updatedAt: 0, customerCount: 0, text: '', nameOrder: '' },
  ...{ tags: NO_TAGS, owner: '', state: undefined, nextStepAt: 0, uses: [] },
}

/** The sort key of the last row of a page, so that lists created or deleted meanwhile do not shift the next page. */
function makeCursor(row: Row, sort: Sort, order: string): string {
  return Buffer.from(JSON.stringify([sort, order, row[sort], row.id])).toString('base64url')
}

function readCursor(cursor: unknown, sort: Sort, order: string): Row {
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR_LENGTH) throw invalidCursor()
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw invalidCursor()
  }
  if (!Array.isArray(parts) || parts.length !== 4) throw invalidCursor()
  const [sortedBy, orderedBy, value, id] = parts
  const isNumber = sort !== 'id' && sort !== 'name'
  if (sortedBy !== sort || orderedBy !== order || typeof id !== 'string') throw invalidCursor()
  if (typeof value !== (isNumber ? 'number' : 'string')) throw invalidCursor()
  const row: Row = { ...NO_ROW, id }
  return sort === 'name' ? { ...row, nameOrder: nameOrder(value) } : { ...row, [sort]: value }
}
