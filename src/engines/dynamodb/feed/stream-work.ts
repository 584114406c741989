import { identifier } from '../../../core/identifiers.js'
import { META, manifestKey, readCustomerSort, readMemberPartition } from '../allowlist/items.js'
import { removalOf } from '../allowlist/tokens.js'
import type { Item } from '../client/attributes.js'
import type { StreamRecord, StreamTable } from './stream-records.js'

/** A member that changed, whatever it is now. */
export interface MemberChange {
  table: StreamTable
  partition: string
  /** Absent where the list has one shard. */
  shard: number | undefined
  customerId: string
  /** What the last record of it said. */
  action: StreamRecord['action']
  /** It as it was before and after each change. */
  images: Images[]
  /** Which writes are in the state of the member from here on. */
  changeIds: Set<string>
  /** It as it was, for each time that DynamoDB deleted it because its time was up. */
  expiries: Item[]
}

/** What a record says an item was and became. */
export interface Images {
  before?: Item
  after?: Item
}

/** What some records say of one list. */
export interface ListWork {
  listId: string
  /** Where it begins, to be told when it fails. */
  firstSequence: string
  members: Map<string, MemberChange>
  meta: Images[]
  indexVersion?: string
}

export interface StreamWork {
  lists: Map<string, ListWork>
  /** When the probes were sent that came through. */
  probes: Map<StreamTable, number>
}

/** Sorts records by what they are about. Those of logs, imports and the feed itself are about nothing. */
export function gather(records: readonly StreamRecord[]): StreamWork {
  const work: StreamWork = { lists: new Map(), probes: new Map() }
  for (const record of records) {
    const partition = record.keys.PK?.S ?? ''
    const sort = record.keys.SK?.S ?? ''
    if (partition === 'FEED') noteProbe(work, sort, record)
    const member = readMemberPartition(partition)
    if (member === undefined) continue
    const customerId = readCustomerSort(sort)
    if (customerId !== undefined) noteMember(work, { ...member, partition, customerId }, record)
    else if (member.shard === undefined) noteList(work, member.listId, sort, record)
  }
  return work
}

function noteProbe({ probes }: StreamWork, sort: string, { table, after }: StreamRecord): void {
  const at = Number(after?.at?.N ?? Number.NaN)
  if (sort === 'PROBE' && at > (probes.get(table) ?? 0)) probes.set(table, at)
}

function noteMember(
  { lists }: StreamWork,
  at: { listId: string; partition: string; shard: number | undefined; customerId: string },
  record: StreamRecord,
): void {
  if (!isCanonical(at.customerId)) return
  const { members } = listWork(lists, at.listId, record)
  const { listId: _, ...place } = at
  const key = `${record.table}/${at.partition}/${at.customerId}`
  let change = members.get(key)
  if (change === undefined) {
    const { table, action } = record
    change = { ...place, table, action, images: [], changeIds: new Set(), expiries: [] }
    members.set(key, change)
  }
  change.action = record.action
  change.images.push(imagesOf(record))
  const written = record.after?.changeId?.S
  // While a replace runs, a member that is removed stays as a tombstone.
  const isGone = record.after === undefined || record.after.tombstone?.BOOL === true
  const removed = isGone ? record.before?.changeId?.S : undefined
  if (written !== undefined) change.changeIds.add(written)
  if (removed !== undefined) change.changeIds.add(removalOf(removed))
  if (record.isExpiry && record.before !== undefined) change.expiries.push(record.before)
}

/** Other programs may write what nobody can ask for: such rows are no members. */
function isCanonical(customerId: string): boolean {
  try {
    return identifier('customerId', customerId) === customerId
  } catch {
    return false
  }
}

function noteList({ lists }: StreamWork, listId: string, sort: string, record: StreamRecord): void {
  const { after } = record
  if (sort === META) {
    listWork(lists, listId, record).meta.push(imagesOf(record))
  } else if (isIndex(listId, sort)) {
    const version = after?.version?.S ?? after?.version?.N
    if (version !== undefined) listWork(lists, listId, record).indexVersion = version
  }
}

const imagesOf = ({ before, after }: StreamRecord): Images => ({
  ...(before !== undefined && { before }),
  ...(after !== undefined && { after }),
})

/** Our manifest, or a whole filter as the source design has it. */
const isIndex = (listId: string, sort: string): boolean =>
  sort === manifestKey(listId).SK.S || sort.startsWith('BLOOM_FILTER#v')

function listWork(lists: Map<string, ListWork>, listId: string, { sequence }: StreamRecord): ListWork {
  let work = lists.get(listId)
  if (work === undefined) {
    work = { listId, firstSequence: sequence, members: new Map(), meta: [] }
    lists.set(listId, work)
  }
  return work
}
