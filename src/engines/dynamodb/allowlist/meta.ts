import { createHash, randomBytes } from 'node:crypto'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import { labelsOf } from '../../../guards/allowlist/labels.js'
import type { CheckedList, ListRecord } from '../../../guards/allowlist/port.js'
import type { AllowlistType, ListLabels } from '../../../guards/allowlist/types.js'
import { readable, unreadableList } from '../../../guards/allowlist/unreadable.js'
import {
  fromJson,
  type Item,
  number,
  optionalJson,
  optionalNumber,
  optionalText,
  text,
} from '../client/attributes.js'
import { all, type Expression } from '../client/expression.js'
import { readConfig } from './foreign-config.js'
import { type Layout, metaKey, type Place, placeOf, readListId, samePlace } from './items.js'
import { type OpenBatch, readOpenBatches } from './open-batches.js'

/** Attributes whose change makes a pod read META again. Counts change with every member and are left out. */
export const WATCHED_ATTRIBUTES = [
  'name',
  'type',
  'config',
  'precision',
  'salt',
  'version',
  'incarnation',
  'shardCount',
  'storage',
  'layout',
  'generation',
  'replacing',
  'moving',
  'deletedAt',
] as const

/** A running replace that builds this generation. */
export interface Replacing {
  generation: number
  importId: string
}

/** A running move of the members to another layout. Until it ends, every change of a member is made in both. */
export interface Moving extends Layout {
  /** The new layout number. */
  layout: number
}

/** A list as stored in its META item. */
export interface StoredList extends ListRecord, Layout {
  /** Number of moves to another number of shards, or to the other table. */
  layout: number
  /** The generation that checks see, and the last one that a replace began. */
  generation: number
  lastGeneration: number
  replacing?: Replacing
  /** Customers of the generation that a replace is building. */
  pendingCount?: number
  moving?: Moving
  /** The layout that it was moved from, while members may still be there. */
  dropping?: Moving
  /** A replace to this generation was abandoned, and its rows are not undone yet. */
  undoing?: number
  /** Batches of imports that are being written. */
  openBatches: readonly OpenBatch[]
  /** When it was deleted; it is not swept yet. */
  deletedAt?: number
  /** Version of its index snapshot. */
  indexVersion?: string
  /**
   * Created by another program: our attributes are absent, and derived where they are needed. Then the text of
   * `createdAt` distinguishes this list from another with its id.
   */
  foreign?: { createdAt: string | undefined }
}

/** What a check knows of a list: all but what changes with its members. */
export type KnownList = CheckedList & Layout & { layout: number; generation: number }

/** 53 random bits: unique over all lists and processes. */
export const newIncarnation = (): number => fold(randomBytes(7))

const fold = (bytes: Buffer): number => bytes.readUIntBE(0, 6) * 32 + (bytes[6]! & 31) || 1

export function encodeMeta(list: StoredList): Item {
  const item: Item = {
    ...metaKey(list.id),
    name: text(list.name),
    type: text(list.type),
    precision: text(list.precision),
    salt: text(list.salt),
    customerCount: number(list.customerCount),
    version: number(list.version),
    createdAt: text(new Date(list.createdAt).toISOString()),
    updatedAt: text(new Date(list.updatedAt).toISOString()),
    incarnation: number(list.incarnation),
  }
  if (list.config !== undefined) item.config = fromJson(list.config, 'config')
  return { ...item, ...encodeLabels(list) }
}

export function encodeLabels({ tags, owner, description }: ListLabels): Item {
  return {
    ...(tags !== undefined && { tags: { L: tags.map(text) } }),
    ...(owner !== undefined && { owner: text(owner) }),
    ...(description !== undefined && { description: text(description) }),
  }
}

/** Other programs may have attributes of these names in another form, which are no labels. */
const decodeLabels = ({ tags, owner, description }: Item): ListLabels =>
  labelsOf({
    tags: (tags?.L ?? []).flatMap(({ S }) => S ?? []),
    owner: owner?.S ?? '',
    description: description?.S ?? '',
  })

/** Reads META of this product and of other programs. Missing values have the defaults of the source design. */
export function decodeMeta(item: Item): StoredList {
  const id = readListId(item.PK?.S ?? '') ?? ''
  try {
    return decode(id, item)
  } catch (error) {
    if (!isCatracaError(error, 'STORE_CORRUPT')) throw error
    throw unreadableList(id, error.message, error)
  }
}

/** The same; undefined if there is none or it is unreadable. */
export function readableMeta(item: Item | undefined): StoredList | undefined {
  return item === undefined ? undefined : readable([() => decodeMeta(item)])[0]
}

function decode(id: string, item: Item): StoredList {
  const createdAt = item.createdAt?.S
  const incarnation = optionalNumber(item, 'incarnation')
  const list: StoredList = {
    id,
    incarnation: incarnation ?? derivedIncarnation(id, createdAt),
    name: optionalText(item, 'name') ?? id,
    type: typeOf(item),
    precision: item.precision?.S === 'trusted' ? 'trusted' : 'exact',
    salt: optionalText(item, 'salt') ?? '',
    customerCount: optionalNumber(item, 'customerCount') ?? 0,
    version: optionalNumber(item, 'version') ?? 1,
    createdAt: readTime(createdAt),
    updatedAt: readTime(item.updatedAt?.S ?? createdAt),
    shardCount: Math.max(1, Math.floor(optionalNumber(item, 'shardCount') ?? 1)),
    giant: optionalText(item, 'storage') === GIANT_STORAGE,
    layout: optionalNumber(item, 'layout') ?? 0,
    generation: optionalNumber(item, 'generation') ?? 0,
    lastGeneration: optionalNumber(item, 'lastGeneration') ?? 0,
    openBatches: readOpenBatches(item),
    ...decodeLabels(item),
  }
  if (incarnation === undefined) list.foreign = { createdAt }
  if (list.type === 'ONDA') list.config = readConfig(optionalJson(item, 'config'))
  decodeStates(item, list)
  return list
}

export const GIANT_STORAGE = 'GIANT_TABLE'

function decodeStates(item: Item, list: StoredList): void {
  const replacing = optionalJson(item, 'replacing') as Replacing | undefined
  const moving = optionalJson(item, 'moving') as Moving | undefined
  const dropping = optionalJson(item, 'dropping') as Moving | undefined
  const pendingCount = optionalNumber(item, 'pendingCount')
  const undoing = optionalNumber(item, 'undoing')
  const deletedAt = optionalNumber(item, 'deletedAt')
  const indexVersion = optionalText(item, 'indexVersion')
  if (replacing !== undefined) list.replacing = replacing
  if (moving !== undefined) list.moving = moving
  if (dropping !== undefined) list.dropping = dropping
  if (pendingCount !== undefined) list.pendingCount = pendingCount
  if (undoing !== undefined) list.undoing = undoing
  if (deletedAt !== undefined) list.deletedAt = deletedAt
  if (indexVersion !== undefined) list.indexVersion = indexVersion
}

function typeOf(item: Item): AllowlistType {
  const type = item.type?.S
  if (type === 'FIXA' || type === 'ONDA') return type
  throw new CatracaError('STORE_CORRUPT', 'its type is neither FIXA nor ONDA')
}

/** The same for every process that reads the item, and different when the list is recreated. */
function derivedIncarnation(id: string, createdAt = ''): number {
  return fold(
    createHash('sha256')
      .update(JSON.stringify([id, createdAt]))
      .digest(),
  )
}

function readTime(iso = ''): number {
  const time = Date.parse(iso)
  return Number.isNaN(time) || time < 0 ? 0 : time
}

export function recordOf(list: StoredList): ListRecord {
  const { id, incarnation, name, type, precision, salt, version, shardCount, createdAt, updatedAt } = list
  // Counts of other programs may be wrong; ours never are.
  const customerCount = Math.max(0, list.customerCount)
  return {
    ...{
      id,
      incarnation,
      name,
      type,
      precision,
      salt,
      customerCount,
      version,
      shardCount,
      createdAt,
      updatedAt,
    },
    ...(list.config !== undefined && { config: list.config }),
    ...labelsOf(list),
  }
}

/** A list as checks see it. */
export function listOf(list: StoredList): KnownList {
  const { customerCount: _, updatedAt: __, tags: _t, owner: _o, description: _d, ...checked } = recordOf(list)
  const { giant, layout, generation } = list
  return { ...checked, giant, layout, generation }
}

/** A short digest of everything in META that changes without its members. */
export function digestOf({
  customerCount: _,
  updatedAt: __,
  pendingCount: ___,
  ...list
}: StoredList): string {
  return createHash('sha256').update(JSON.stringify(list)).digest().toString('base64url', 0, 9)
}

/** Condition: the list exists and was not recreated. */
export function sameList(
  expression: Expression,
  { incarnation, foreign }: Pick<StoredList, 'incarnation' | 'foreign'>,
): string {
  return all(
    expression.exists('PK'),
    expression.equals('incarnation', foreign ? undefined : number(incarnation)),
    foreign &&
      expression.equals('createdAt', foreign.createdAt === undefined ? undefined : text(foreign.createdAt)),
    expression.absent('deletedAt'),
  )
}

/** Condition: a lease beside META is still that of this owner, for the same list. */
export const ownedBy = (
  expression: Expression,
  { owner, incarnation }: { owner: string; incarnation: number },
): string =>
  all(expression.equals('owner', text(owner)), expression.equals('incarnation', number(incarnation)))

/** Condition: everything that a write of a member depends on is still as in `list`. */
export function unchangedMeta(expression: Expression, list: StoredList): string {
  const { generation, layout, replacing, moving } = list
  return all(
    sameList(expression, list),
    expression.equals('generation', generation === 0 ? undefined : number(generation)),
    expression.equals('layout', layout === 0 ? undefined : number(layout)),
    expression.equals('replacing.generation', replacing && number(replacing.generation)),
    expression.equals('moving.layout', moving && number(moving.layout)),
  )
}

/** For an update of META. */
export const updatedAt = (now: number): Item => ({ updatedAt: text(new Date(now).toISOString()) })

/** Both places of a member while its list is moved, the authoritative one first. */
export function placesOf(
  list: Pick<StoredList, 'id' | 'shardCount' | 'giant' | 'moving'>,
  customerId: string,
): Place[] {
  const place = placeOf(list.id, list, customerId)
  if (list.moving === undefined) return [place]
  const next = placeOf(list.id, list.moving, customerId)
  return samePlace(place, next) ? [place] : [place, next]
}
