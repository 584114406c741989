import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Listing, ListingRequest } from '../core/listing.js'
import type { ListRef } from '../guards/allowlist/changes/port.js'
import { compareKeys, MAX_CUSTOMER_KEY_LENGTH, writeCustomerKey } from '../guards/allowlist/customer-key.js'
import { NOTHING_YET } from '../guards/allowlist/import/checkpoint.js'
import type {
  AllowlistEngine,
  MemberAttributes,
  NewListRecord,
  SortedCustomers,
} from '../guards/allowlist/port.js'
import type { Pair } from './suite.js'

export const NOW = Date.UTC(2030, 0, 1)
export const SALT = '0123456789abcdef0123456789abcdef'

export const fixa = (id: string): NewListRecord => ({
  id,
  name: `List ${id}`,
  type: 'FIXA',
  precision: 'exact',
  salt: SALT,
})

/** Creates a FIXA list and returns its reference. */
export async function newFixa(engine: AllowlistEngine, id: string): Promise<ListRef> {
  const result = await engine.lists.create(fixa(id), NOW)
  assert.ok(result.outcome === 'created', result.outcome)
  return { id, incarnation: result.list.incarnation }
}

/** Ids of both kinds, so that every case covers UUIDs and plain strings. */
export function customer(i: number): string {
  if (i % 3 === 0) return `customer-${i}`
  const mixed = Math.imul(i + 1, 0x9e3779b1) >>> 0
  return `${mixed.toString(16).padStart(8, '0')}-0000-4000-8000-${i.toString(16).padStart(12, '0')}`
}

export const customers = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => customer(from + i))

/** Packs ids as an import does. */
export function sorted(
  ids: readonly string[],
  attributes: Record<string, MemberAttributes> = {},
): SortedCustomers {
  const keyed = ids.map((id) => {
    const buffer = new Uint8Array(MAX_CUSTOMER_KEY_LENGTH)
    return { id, key: buffer.slice(0, writeCustomerKey(id, buffer, 0)) }
  })
  keyed.sort((a, b) => compareKeys(a.key, 0, a.key.length, b.key, 0, b.key.length))
  const starts = [0]
  for (const { key } of keyed) starts.push(starts.at(-1)! + key.length)
  const bytes = new Uint8Array(starts.at(-1)!)
  keyed.forEach(({ key }, i) => {
    bytes.set(key, starts[i])
  })
  return {
    count: keyed.length,
    bytes,
    start: (i) => starts[i]!,
    end: (i) => starts[i + 1]!,
    attributes: (i) => attributes[keyed[i]!.id],
  }
}

/** All members, read page by page. */
export async function allMembers(engine: AllowlistEngine, listId: string, limit = 7): Promise<string[]> {
  const ids: string[] = []
  let after: string | undefined
  do {
    const page = await engine.members.page(listId, after, limit)
    assert.ok(page, `${listId} has a page`)
    ids.push(...page.members.map((member) => member.customerId))
    after = page.next
  } while (after !== undefined)
  return ids
}

export async function countOf(engine: AllowlistEngine, listId: string): Promise<number> {
  return (await engine.lists.get(listId))!.customerCount
}

/** Whether a strong check on the instance finds the member. */
export async function holds(engine: AllowlistEngine, listId: string, customerId: string): Promise<boolean> {
  const view = await engine.checks.view('strong')
  const list = await view.list(listId)
  assert.ok(list, `${listId} exists`)
  return (await view.member(list, customerId)) !== undefined
}

/** Runs `call` many times concurrently, alternating between both instances. */
export function parallel<Port, T>(
  pair: Pair<Port>,
  times: number,
  call: (engine: Port, i: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, (_, i) => call(i % 2 === 0 ? pair.one : pair.two, i)))
}

/** A busy machine keeps processes waiting for seconds, so this only ends what would never end. */
const PATIENCE_MS = 60_000

/** Waits for an effect of another call; fails when it does not come. */
export async function until(what: string, isThere: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!(await isThere())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${PATIENCE_MS} ms`)
    await pause(5)
  }
}

/** All that the pages of a listing hold, each once. A listing must end. */
export async function listed<T>(
  read: (page: Pick<ListingRequest, 'after' | 'limit'>) => Promise<Listing<T>>,
  limit: number,
): Promise<T[]> {
  const found = new Map<string, T>()
  let after: string | undefined
  for (let pages = 0; pages < 1000; pages++) {
    const { items, next } = await read({ after, limit })
    for (const item of items) found.set(JSON.stringify(item), item)
    if (next === undefined) return [...found.values()]
    after = next
  }
  throw new Error('the pages have no end')
}

export async function sweepAll(engine: AllowlistEngine, now = NOW): Promise<void> {
  while ((await engine.upkeep.sweep(now)).more);
}

let owners = 0
/** Adds many customers in one import batch. */
export async function addAll(engine: AllowlistEngine, listId: string, ids: readonly string[]): Promise<void> {
  const run = sorted(ids)
  const session = await beginImport(engine, listId, 'add')
  const checkpoint = { ...NOTHING_YET, rowsAcknowledged: run.count }
  await engine.bulk.add(session, run, 0, run.count, () => checkpoint, NOW)
  await engine.bulk.finish(session, checkpoint, 'completed', undefined, NOW)
}

/** Replaces the members, and runs something else before the switch. */
export async function replaceBy(
  engine: AllowlistEngine,
  listId: string,
  ids: readonly string[],
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  const session = await beginImport(engine, listId, 'replace')
  async function* runs(): AsyncGenerator<SortedCustomers> {
    yield sorted(ids)
    await meanwhile()
  }
  const outcome = await engine.bulk.replace(
    session,
    runs(),
    (counts) => ({ ...NOTHING_YET, ...counts }),
    () => NOW,
  )
  assert.equal(outcome.outcome, 'replaced')
}

async function beginImport(engine: AllowlistEngine, listId: string, mode: 'add' | 'replace') {
  const importId = `import-${++owners}`
  const outcome = await engine.bulk.begin({ listId, importId, mode, owner: importId, leaseMs: 60_000 }, NOW)
  assert.ok('session' in outcome, outcome.outcome)
  return outcome.session
}
