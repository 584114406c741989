import { type Item, number, optionalNumber, text } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { Expression, when } from '../client/expression.js'
import { keyOf, PARTITION } from '../keys.js'
import { type Board, EMPTY_BOARD, packBoard, partNames, unpackBoard } from './board.js'

/**
 * The items, in the table for guards, which has no stream:
 *
 *   FOLLOWING   BOARD        owner, version, data   what the leader read; version grows with each write
 *               PART#name    data, ttl              lists, when they are many; never changed
 *               ASKED        at, lists              what readers want to find on the board
 */
const BOARD_KEY = keyOf(PARTITION.following, 'BOARD')
const ASKED_KEY = keyOf(PARTITION.following, 'ASKED')
const partKey = (name: string) => keyOf(PARTITION.following, `PART#${name}`)

const READ = 'follow.read'
const LEAD = 'follow.lead'
const ASK = 'follow.ask'
const PART_KEPT_MS = 3_600_000
const NOTHING = new Uint8Array()

/** The board, and the write that stored it. */
export interface StoredBoard {
  /** Absent: the last leader has left. */
  readonly owner: string | undefined
  readonly version: number
  readonly board: Board
}

export interface Asked {
  at: number
  /** Each is `m` (record) or `l` (record and logs) and the id of a list. */
  lists: readonly string[]
}

export class BoardStore {
  private parts = new Map<string, Uint8Array>()
  /** Parts that this process has written, with the time. */
  private written = new Map<string, number>()

  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
  ) {}

  /** An old board is as true as a new one, so it is read for half a unit. */
  async read(): Promise<StoredBoard | undefined> {
    const item = await this.client.getItem(
      READ,
      { TableName: this.table, Key: BOARD_KEY },
      { timeoutMs: 1000 },
    )
    if (item === undefined) return undefined
    // What cannot be read is an old board: its reader leads when nobody writes a newer one.
    const root = item.data?.B ?? NOTHING
    await this.fetch(partNames(root))
    const board = unpackBoard(root, (name) => this.parts.get(name)) ?? EMPTY_BOARD
    return { owner: item.owner?.S, version: optionalNumber(item, 'version') ?? 0, board }
  }

  private async fetch(names: readonly string[]): Promise<void> {
    const missing = names.filter((name) => !this.parts.has(name))
    const keys = missing.map(partKey)
    const items = keys.length === 0 ? [] : await this.client.batchGetItem(READ, { table: this.table, keys })
    const found = new Map(items.map((item) => [item.SK!.S!.slice('PART#'.length), item.data?.B ?? NOTHING]))
    const kept = names.map((name) => [name, this.parts.get(name) ?? found.get(name)] as const)
    this.parts = new Map(kept.filter((part): part is [string, Uint8Array] => part[1] !== undefined))
  }

  /** False: another process has written since `last`. */
  async write(owner: string | undefined, last: number, board: Board, now: number): Promise<boolean> {
    const { root, parts } = packBoard(board)
    await this.writeParts(parts, now)
    const Item: Item = { ...BOARD_KEY, version: number(last + 1), data: { B: root } }
    if (owner !== undefined) Item.owner = text(owner)
    const unchanged = when((expression) =>
      expression.equals('version', last === 0 ? undefined : number(last)),
    )
    const { applied, item } = await this.client.putItem(LEAD, { TableName: this.table, Item, ...unchanged })
    // The answer to an attempt that was executed may have been lost.
    return applied || (owner !== undefined && item?.owner?.S === owner && isVersion(item, last + 1))
  }

  private async writeParts(parts: ReadonlyMap<string, Uint8Array>, now: number): Promise<void> {
    // Written again long before it expires.
    const fresh = [...parts].filter(([name]) => (this.written.get(name) ?? 0) < now - PART_KEPT_MS / 2)
    const ttl = number(Math.ceil((now + PART_KEPT_MS) / 1000))
    const puts = fresh.map(([name, data]) => ({
      ...{ table: this.table },
      put: { ...partKey(name), data: { B: data }, ttl },
    }))
    if (puts.length > 0) await this.client.batchWrite(LEAD, puts)
    const kept = [...parts.keys()].map((name) => [name, this.written.get(name)] as const)
    this.written = new Map([
      ...kept.filter((part): part is [string, number] => part[1] !== undefined),
      ...fresh.map(([name]) => [name, now] as const),
    ])
  }

  async ask(lists: readonly string[], at: number): Promise<void> {
    const expression = new Expression().set({ at: number(at) })
    if (lists.length > 0) {
      const wanted = expression.value({ SS: [...lists] })
      expression.change('ADD', `${expression.name('lists')} ${wanted}`)
    }
    const input = { TableName: this.table, Key: ASKED_KEY, ...expression.update() }
    await this.client.updateItem(ASK, input, { repeatable: true })
  }

  /** What was asked since the last call. */
  async takeAsked(): Promise<Asked> {
    const item = await this.client.getItem(LEAD, { TableName: this.table, Key: ASKED_KEY })
    const lists = item?.lists?.SS ?? []
    if (lists.length > 0) {
      const expression = new Expression()
      const taken = expression.value({ SS: lists })
      const UpdateExpression = `DELETE ${expression.name('lists')} ${taken}`
      const input = { TableName: this.table, Key: ASKED_KEY, UpdateExpression, ...expression.parts() }
      await this.client.updateItem(LEAD, input, { repeatable: true })
    }
    return { at: (item && optionalNumber(item, 'at')) ?? 0, lists }
  }
}

const isVersion = (item: Item, version: number): boolean => optionalNumber(item, 'version') === version
