import {
  type Item,
  number,
  numberOf,
  optionalNumber,
  optionalText,
  text,
  textOf,
} from '../client/attributes.js'
import { all, when } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { type Layout, moveKey } from './items.js'
import { ownedBy, type StoredList } from './meta.js'
import type { Store } from './store.js'

/**
 * `wait` for batches that do not know of the move, `copy` members, `check` that every member was copied, `clean` up
 * wrong copies, `drop` what is left at the old places.
 */
const MOVE_PHASES = ['wait', 'copy', 'check', 'clean', 'drop'] as const
type MovePhase = (typeof MOVE_PHASES)[number]

export interface MoveState {
  listId: string
  incarnation: number
  from: Layout
  to: Layout
  phase: MovePhase
  owner: string
  leaseUntil: number
  /** Within the phase: done up to this customer of this shard. */
  shard: number
  behind?: string
  /** Members when it began. */
  total: number
  copied: number
  checked: number
  /** Of those, members that had to be copied again or removed. */
  repaired: number
  dropped: number
  startedAt: number
  updatedAt: number
  /** From then on no process can need the old places. */
  dropAt?: number
}

const VERB = 'allowlist.move'

/** The item beside META with the progress of a move. */
export class Moves {
  constructor(private readonly store: Store) {}

  async read(list: StoredList): Promise<MoveState | undefined> {
    const item = await this.store.client.readItem(VERB, this.table.TableName, moveKey(list.id))
    const state = item && decode(list.id, item)
    return state?.incarnation === list.incarnation ? state : undefined
  }

  /** The first state, if there is none of this list. */
  create(state: MoveState): TransactionItem {
    const isOther = when((expression) => {
      const other = `${expression.name('incarnation')} <> ${expression.value(number(state.incarnation))}`
      return `${expression.absent('PK')} OR ${other}`
    })
    return { Put: { ...this.table, Item: encode(state), ...isOther } }
  }

  /** Transaction item that stores the state, if `before` is still stored. */
  put(state: MoveState, before: Pick<MoveState, 'owner' | 'incarnation'> = state): TransactionItem {
    return { Put: { Item: encode(state), ...this.guard(before) } }
  }

  delete(state: MoveState): TransactionItem {
    return { Delete: { Key: moveKey(state.listId), ...this.guard(state) } }
  }

  /** False: another process has taken over. */
  async save(state: MoveState): Promise<boolean> {
    return (await this.store.client.putItem(VERB, this.put(state).Put!)).applied
  }

  /** Takes over from an owner whose lease has expired. */
  async takeOver(state: MoveState, owner: string, leaseUntil: number): Promise<MoveState | undefined> {
    const taken = { ...state, owner, leaseUntil }
    const isExpired = when((expression) =>
      all(ownedBy(expression, state), expression.equals('leaseUntil', number(state.leaseUntil))),
    )
    const input = { ...this.table, Item: encode(taken), ...isExpired }
    const { applied } = await this.store.client.putItem(VERB, input)
    return applied ? taken : undefined
  }

  private guard(state: Pick<MoveState, 'owner' | 'incarnation'>) {
    return { ...this.table, ...when((expression) => ownedBy(expression, state)) }
  }

  private get table(): { TableName: string } {
    return { TableName: this.store.tables.allowlists }
  }
}

const NUMBERS = [
  'incarnation',
  'leaseUntil',
  'shard',
  'total',
  'copied',
  'checked',
  'repaired',
  'dropped',
  'startedAt',
  'updatedAt',
] as const

function encode(state: MoveState): Item {
  const { listId, from, to, phase, owner, behind, dropAt } = state
  const item: Item = { ...moveKey(listId), phase: text(phase), owner: text(owner) }
  for (const name of NUMBERS) item[name] = number(state[name])
  item.from = encodeLayout(from)
  item.to = encodeLayout(to)
  if (behind !== undefined) item.behind = text(behind)
  if (dropAt !== undefined) item.dropAt = number(dropAt)
  return item
}

export const encodeLayout = ({ shardCount, giant }: Layout): { M: Item } => ({
  M: { shardCount: number(shardCount), giant: { BOOL: giant } },
})

function decode(listId: string, item: Item): MoveState {
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, numberOf(item, name)]))
  const behind = optionalText(item, 'behind')
  const dropAt = optionalNumber(item, 'dropAt')
  return {
    ...(numbers as Record<(typeof NUMBERS)[number], number>),
    listId,
    from: decodeLayout(item.from?.M ?? {}),
    to: decodeLayout(item.to?.M ?? {}),
    phase: textOf(item, 'phase') as MovePhase,
    owner: textOf(item, 'owner'),
    ...(behind !== undefined && { behind }),
    ...(dropAt !== undefined && { dropAt }),
  }
}

const decodeLayout = (item: Item): Layout => ({
  shardCount: numberOf(item, 'shardCount'),
  giant: item.giant?.BOOL === true,
})
