import { invalid } from '../../core/errors.js'
import { invalidCursor, parsePage } from './paging.js'
import type { ListRecord, ListStore } from './port.js'
import { type AllowlistQuery, type AllowlistType, LIST_SORTS } from './types.js'

type Sort = (typeof LIST_SORTS)[number]

/** The fields for sorting and searching. The rules of ten thousand waves would not fit in memory. */
interface Row extends Pick<ListRecord, 'id' | 'name' | 'type' | 'updatedAt' | 'customerCount'> {
  /** Id and name for searching, and the name for sorting. */
  text: string
  nameOrder: string
}

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
}

export const isSearch = ({ search, type, sort, order }: AllowlistQuery): boolean =>
  [search, type, sort, order].some((given) => given !== undefined)

interface Scan {
  rows: Promise<Row[]>
  /** Sorted once per scan. */
  sorted: Map<Sort, Promise<readonly Row[]>>
  untilMs: number
}

/** Finds and sorts lists in memory, in the result of a recent scan. */
export class ListSearch {
  private scan: Scan | undefined

  constructor(private readonly lists: ListStore) {}

  /** Changes of this process are found at once; changes of others, and customer counts, within 2 to 20 seconds. */
  forget(): void {
    this.scan = undefined
  }

  async find(query: AllowlistQuery): Promise<Found> {
    const { search, type, sort, order } = parseQuery(query)
    const { limit } = parsePage({ ...(query.limit !== undefined && { limit: query.limit }) })
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor, sort, order)
    const sign = order === 'asc' ? 1 : -1
    const compare = (a: Row, b: Row) => sign * (COMPARE[sort](a, b) || byId(a.id, b.id))
    const matching = (await this.sortedBy(sort)).filter(
      (row) => (type === undefined || row.type === type) && row.text.includes(search),
    )
    if (order === 'desc') matching.reverse()
    const begin = after === undefined ? 0 : firstBehind(matching, (row) => compare(row, after) > 0)
    const page = matching.slice(begin, begin + limit)
    const records = await Promise.all(page.map(({ id }) => this.lists.get(id)))
    const found = { lists: records.filter((list) => list !== undefined), total: matching.length }
    const isLast = begin + limit >= matching.length
    return isLast ? found : { ...found, nextCursor: makeCursor(page.at(-1)!, sort, order) }
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
    if (this.scan !== undefined && beganMs < this.scan.untilMs) return this.scan
    const scan: Scan = { rows: this.read(), sorted: new Map(), untilMs: Number.POSITIVE_INFINITY }
    this.scan = scan
    scan.rows.then(
      () => {
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
      for (const { id, name, type, updatedAt, customerCount } of page) {
        const text = `${folded(id)}\n${folded(name)}`
        rows.push({ id, name, type, updatedAt, customerCount, text, nameOrder: nameOrder(name) })
      }
      after = page.length === SCAN_PAGE ? page.at(-1)!.id : undefined
    } while (after !== undefined && rows.length < MAX_SCANNED)
    return rows
  }
}

function parseQuery({ search = '', type, sort = 'id', order = 'asc' }: AllowlistQuery) {
  if (typeof search !== 'string' || search.length > MAX_SEARCH_LENGTH) {
    throw invalid('search', `must be at most ${MAX_SEARCH_LENGTH} characters`)
  }
  if (type !== undefined && type !== 'FIXA' && type !== 'ONDA') throw invalid('type', 'must be FIXA or ONDA')
  if (!LIST_SORTS.includes(sort)) throw invalid('sort', `must be ${LIST_SORTS.join(' or ')}`)
  if (order !== 'asc' && order !== 'desc') throw invalid('order', 'must be asc or desc')
  return { search: folded(search), type: type as AllowlistType | undefined, sort, order }
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
  const isNumber = sort === 'updatedAt' || sort === 'customerCount'
  if (sortedBy !== sort || orderedBy !== order || typeof id !== 'string') throw invalidCursor()
  if (typeof value !== (isNumber ? 'number' : 'string')) throw invalidCursor()
  const row = { id, name: '', type: 'FIXA', updatedAt: 0, customerCount: 0, text: '', nameOrder: '' } as const
  return sort === 'name' ? { ...row, nameOrder: nameOrder(value) } : { ...row, [sort]: value }
}
