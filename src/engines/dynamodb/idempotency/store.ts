import { CatracaError } from '../../../core/errors.js'
import type { Listing, ListingRequest } from '../../../core/listing.js'
import type {
  Claim,
  ClaimOutcome,
  Completion,
  IdempotencyStore,
  ListedRecord,
  OwnerOutcome,
  StoredRecord,
  StoredResponse,
} from '../../../guards/idempotency/port.js'
import {
  claimStep,
  completeStep,
  extendStep,
  failStep,
  isLive,
  type OwnedRecord,
} from '../../../guards/idempotency/transitions.js'
import type { RecordKey } from '../../../guards/idempotency/types.js'
import type { Item } from '../client/attributes.js'
import type { Refused } from '../client/calls.js'
import type { DynamoClient, UpdateInput } from '../client/client.js'
import { scanPrefix } from '../client/scan-prefix.js'
import type { ReadFirst } from '../options.js'
import {
  claimUpdate,
  completeUpdate,
  extendUpdate,
  failUpdate,
  releaseDelete,
  replacement,
} from './changes.js'
import { itemOf, LISTED_ATTRIBUTES, type ReadRecord, readItem } from './items.js'
import { keyOf, partitionOf, readPartition } from './keys.js'
import { bytesIn, type Parts, ResponseParts } from './parts.js'
import { ReadFirstPolicy } from './read-first.js'

interface DynamodbIdempotencyOptions {
  table: string
  writeTimeoutMs: number
  readFirst: ReadFirst
  /** DynamoDB has no clock. Converts the caller's time to the time that decides. */
  time: (now: number) => number
}

const EXTEND = 'idempotency.extend'
const MIB = 1024 * 1024
/** Text stays in the record up to the item limit, because other programs read it there. */
const MOST_TEXT_BYTES = 390 * 1024
/** Every claim that finds a record is charged by its size, and no other program reads compressed responses. */
const MOST_COMPRESSED_BYTES = 32 * 1024
/** Each retry means that another caller changed the record in between. */
const MOST_TRIES = 20

/** Each method is one conditional write of one item. The refusal returns the current item. */
export class DynamodbIdempotency implements IdempotencyStore {
  readonly maxResponseBytes = 4 * MIB
  private readonly parts: ResponseParts
  private readonly policy: ReadFirstPolicy

  constructor(
    private readonly client: DynamoClient,
    private readonly options: DynamodbIdempotencyOptions,
  ) {
    this.parts = new ResponseParts(client, options.table, options.writeTimeoutMs)
    this.policy = new ReadFirstPolicy(options.readFirst)
  }

  async claim(claim: Claim, given: number): Promise<ClaimOutcome> {
    const now = this.options.time(given)
    const replay = await this.completed(claim.key, now)
    if (replay !== undefined) return this.found(replay, now)
    const update = claimUpdate(this.options.table, claim, now)
    let result = await this.client.updateItem('idempotency.claim', update, { repeatable: true })
    let record = result.applied ? readItem(claim.key, result.item!, now).record : undefined
    for (let tries = 0; !result.applied; tries++) {
      const seen = result.item && readItem(claim.key, result.item, now)
      const step = claimStep(seen?.record, claim, now)
      if ('found' in step) {
        this.policy.met(claim.key.operation, step.found.status === 'COMPLETED' ? result.item : undefined)
        return this.found(seen!, now)
      }
      record = step.claimed
      if (!step.isChanged) break
      if (tries === MOST_TRIES) throw crowded()
      const input = replacement(this.options.table, itemOf(record), result.item)
      result = await this.client.putItem('idempotency.claim', input)
    }
    this.policy.met(claim.key.operation, undefined)
    const { attempt, expiresAt, leaseUntil } = record!
    return { outcome: 'claimed', attempt, expiresAt, leaseUntil: leaseUntil! }
  }

  async complete(
    key: RecordKey,
    owner: string,
    completion: Completion,
    given: number,
  ): Promise<OwnerOutcome> {
    const now = this.options.time(given)
    const { response } = completion
    if (response !== undefined && !fitsRecord(response)) {
      return this.completeInParts(key, owner, response, now)
    }
    const refused = await this.update(
      'idempotency.complete',
      completeUpdate(this.table, key, owner, completion, now),
    )
    return this.completionOutcome(refused, key, owner, completion, now)
  }

  async fail(key: RecordKey, owner: string, error: string | undefined, given: number): Promise<OwnerOutcome> {
    const now = this.options.time(given)
    const refused = await this.update('idempotency.fail', failUpdate(this.table, key, owner, error, now))
    return this.outcome(refused, key, now, (record) => failStep(record, owner, error, now))
  }

  async release(key: RecordKey, owner: string, given: number): Promise<OwnerOutcome> {
    const now = this.options.time(given)
    const result = await this.client.deleteItem(
      'idempotency.release',
      releaseDelete(this.table, key, owner, now),
    )
    if (result.applied || (result.maybeOwn && result.item === undefined)) return 'done'
    return this.fail(key, owner, undefined, given)
  }

  async extend(key: RecordKey, owner: string, leaseMs: number, given: number): Promise<OwnerOutcome> {
    const now = this.options.time(given)
    const until = now + leaseMs
    const refused = await this.update(EXTEND, extendUpdate(this.table, key, owner, until, false, now))
    if (refused === undefined) return 'done'
    const record = refused.item && readItem(key, refused.item, now).record
    if (extendStep(record, owner, leaseMs, now) === 'lost') return 'lost'
    const moved = await this.update(EXTEND, extendUpdate(this.table, key, owner, until, true, now))
    return moved === undefined ? 'done' : 'lost'
  }

  async read(key: RecordKey, given: number): Promise<StoredRecord | undefined> {
    const now = this.options.time(given)
    const item = await this.get('idempotency.read', key, true)
    const seen = item && readItem(key, item, now)
    return seen !== undefined && isLive(seen.record, now) ? this.whole(seen) : undefined
  }

  /** Also removes one that has expired and that DynamoDB has not deleted yet. */
  async list(
    { operation, prefix, ...page }: ListingRequest & { operation?: string },
    given: number,
  ): Promise<Listing<ListedRecord>> {
    const now = this.options.time(given)
    const start = operation === undefined ? '' : partitionOf({ operation, key: prefix })
    const scanned = { table: this.table, key: ['pk'], attributes: LISTED_ATTRIBUTES }
    const found = await scanPrefix(this.client, 'idempotency.list', scanned, { ...page, prefix: start })
    const { items, ...next } = found
    const records = items.flatMap((item): ListedRecord[] => {
      const key = readPartition(item.pk!.S!)
      if (key === undefined || item.status === undefined || !key.key.startsWith(prefix)) return []
      const {
        response: _,
        owner: __,
        takesOver: ___,
        isForeign: ____,
        ...record
      } = readItem(key, item, now).record
      return record.expiresAt > now ? [record] : []
    })
    return { items: records, ...next }
  }

  async remove(key: RecordKey): Promise<boolean> {
    const result = await this.client.deleteItem('idempotency.remove', {
      TableName: this.table,
      Key: keyOf(key),
      ConditionExpression: 'attribute_exists(pk)',
      ReturnValues: 'ALL_OLD',
    })
    if (!result.applied) return result.maybeOwn && result.item === undefined
    const { parts } = readItem(key, result.item!, 0)
    if (parts !== undefined) await this.parts.remove(key, parts)
    return true
  }

  /** TTL deletes expired items. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }

  private get table(): string {
    return this.options.table
  }

  /** Reads first, where that pays. A completed record does not change, so an eventually consistent read is enough. */
  private async completed(key: RecordKey, now: number): Promise<ReadRecord | undefined> {
    if (!this.policy.shouldRead(key.operation)) return undefined
    const item = await this.get('idempotency.replay', key, false)
    const seen = item && readItem(key, item, now)
    if (seen?.record.status !== 'COMPLETED' || !isLive(seen.record, now)) return undefined
    this.policy.met(key.operation, item)
    return seen
  }

  /** The parts first, the record last: a record never names missing parts. */
  private async completeInParts(
    key: RecordKey,
    owner: string,
    response: StoredResponse,
    now: number,
  ): Promise<OwnerOutcome> {
    const item = await this.get('idempotency.complete', key, true)
    const before = item && (await this.ownWhole(readItem(key, item, now), owner))
    const step = completeStep(before, owner, { response }, now)
    if (typeof step === 'string') return outcomeOf(step)
    const parts = await this.parts.write(key, response, before!.expiresAt)
    const update = completeUpdate(this.table, key, owner, { parts }, now)
    const refused = await this.update('idempotency.complete', update)
    const isOurs = refused?.item?.responseParts?.S === parts.id
    if (refused !== undefined && !isOurs) await this.dropParts(key, parts)
    return isOurs ? 'done' : this.completionOutcome(refused, key, owner, { response }, now)
  }

  /** If refused, the same owner completed it before, or has lost it. */
  private async completionOutcome(
    refused: Refused | undefined,
    key: RecordKey,
    owner: string,
    completion: Completion,
    now: number,
  ): Promise<OwnerOutcome> {
    if (refused === undefined) return 'done'
    const record = refused.item && (await this.ownWhole(readItem(key, refused.item, now), owner))
    const step = completeStep(record, owner, completion, now)
    return typeof step === 'string' ? outcomeOf(step) : 'lost'
  }

  /** With its response, if the owner holds it. */
  private async ownWhole(seen: ReadRecord, owner: string): Promise<OwnedRecord> {
    if (seen.parts === undefined || seen.record.owner !== owner) return seen.record
    return { ...seen.record, ...(await this.whole(seen)) }
  }

  /** No record names them, and they expire, so a failure is ignored. */
  private async dropParts(key: RecordKey, parts: Parts): Promise<void> {
    await this.parts.remove(key, parts).catch(() => {})
  }

  private async found(seen: ReadRecord, now: number): Promise<ClaimOutcome> {
    return { outcome: 'found', record: await this.whole(seen), at: now }
  }

  private async whole({ record: { owner: _, ...record }, parts }: ReadRecord): Promise<StoredRecord> {
    return parts === undefined ? record : { ...record, response: await this.parts.read(record.key, parts) }
  }

  /** The refusal; undefined if it was applied. */
  private async update(verb: string, input: UpdateInput): Promise<Refused | undefined> {
    const result = await this.client.updateItem(verb, input, { repeatable: true })
    return result.applied ? undefined : result
  }

  /** If refused, the same owner did it before, or has lost it. */
  private outcome(
    refused: Refused | undefined,
    key: RecordKey,
    now: number,
    step: (record: OwnedRecord | undefined) => unknown,
  ): OwnerOutcome {
    if (refused === undefined) return 'done'
    return step(refused.item && readItem(key, refused.item, now).record) === 'same' ? 'done' : 'lost'
  }

  private get(verb: string, key: RecordKey, consistent: boolean): Promise<Item | undefined> {
    return this.client.getItem(verb, { TableName: this.table, Key: keyOf(key), ConsistentRead: consistent })
  }
}

const outcomeOf = (step: 'gone' | 'same' | 'differs' | 'lost'): OwnerOutcome =>
  step === 'lost' || step === 'differs' ? step : 'done'

const fitsRecord = (response: StoredResponse): boolean =>
  bytesIn(response).byteLength <= (response.encoding === 'json' ? MOST_TEXT_BYTES : MOST_COMPRESSED_BYTES)

const crowded = (): CatracaError =>
  new CatracaError('ENGINE_UNAVAILABLE', 'other callers keep changing this idempotency record')
