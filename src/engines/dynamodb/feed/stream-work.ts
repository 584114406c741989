import { identifier } from '../../../core/identifiers.js'
import { META, manifestKey, readCustomerSort, readMemberPartition } from '../allowlist/items.js'
import { removalOf } from '../allowlist/tokens.js'
import type { Item } from '../client/attributes.js'
import type { StreamRecord, StreamTable } from './stream-records.js'

/** A changed member. */
export interface MemberChange {
  table: StreamTable
  partition: string
  /** Absent if the list has one shard. */
  shard: number | undefined
  customerId: string
  /** The action of its last record. */
  action: StreamRecord['action']
  /** Its images before and after each change. */
  images: Images[]
  /** Writes that are included in the member's state from here on. */
  changeIds: Set<string>
  /** The deleted item, for each time that TTL deleted the member. */
  expiries: Item[]
}

/** An item before and after a change. */
export interface Images {
  before?: Item
  after?: Item
}

/** The records of one list. */
export interface ListWork {
  listId: string
  /** Where it begins, to report if it fails. */
  firstSequence: string
  members: Map<string, MemberChange>
  meta: Images[]
  indexVersion?: string
}

interface StreamWork {
  lists: Map<string, ListWork>
  /** When the probes that came through were sent. */
  probes: Map<StreamTable, number>
}

/** Groups records by list. Records of logs, imports and the feed itself are ignored. */
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
  // While a replace runs, a removed member stays as a tombstone.
  const isGone = record.after === undefined || record.after.tombstone?.BOOL === true
  const removed = isGone ? record.before?.changeId?.S : undefined
  if (written !== undefined) change.changeIds.add(written)
  if (removed !== undefined) change.changeIds.add(removalOf(removed))
  if (record.isExpiry && record.before !== undefined) change.expiries.push(record.before)
}

/** Other programs may write ids that cannot be checked: such rows are not members. */
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

/** Our manifest, or a whole filter in the source design. */
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
