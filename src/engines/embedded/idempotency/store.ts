import { type Listing, type ListingRequest, MAX_EXAMINED, placeParts } from '../../../core/listing.js'
import type {
  Claim,
  ClaimOutcome,
  Completion,
  IdempotencyStore,
  ListedRecord,
  OwnerOutcome,
  StoredRecord,
} from '../../../guards/idempotency/port.js'
import {
  type ClaimStep,
  claimStep,
  completeStep,
  extendStep,
  failStep,
  isLive,
  type OwnedRecord,
  type OwnerStep,
  releaseStep,
} from '../../../guards/idempotency/transitions.js'
import type { RecordKey } from '../../../guards/idempotency/types.js'
import type { Environment } from '../lmdb/environment.js'
import { packRecord, unpackHead, unpackRecord } from './rows.js'

/** Records are at [`record`, operation, key]. Rows at [`until`, time, …] find the expired ones. */
const RECORD = 'record'
const UNTIL = 'until'
/** Sorts behind all records. */
const BEHIND_RECORDS = 'record~'
const SWEPT_PER_STEP = 500
const NOTHING = Buffer.alloc(0)

type Row = (string | number)[]

/** Records in one LMDB environment. */
export class EmbeddedIdempotency implements IdempotencyStore {
  readonly maxResponseBytes = 16 * 1024 * 1024

  constructor(private readonly environment: Environment) {}

  /** Reads first, on the calling thread: a claim that changes nothing needs no write transaction. */
  async claim(claim: Claim, now: number): Promise<ClaimOutcome> {
    this.environment.refresh()
    const step = claimStep(this.get(claim.key), claim, now)
    return 'claimed' in step && step.isChanged ? this.take(claim, now) : toOutcome(step, now)
  }

  /** The part of `claim` that writes. */
  take(claim: Claim, now: number): Promise<ClaimOutcome> {
    return this.environment.write(() => {
      const before = this.get(claim.key)
      const step = claimStep(before, claim, now)
      if ('claimed' in step && step.isChanged) this.put(step.claimed, before)
      return toOutcome(step, now)
    })
  }

  complete(key: RecordKey, owner: string, completion: Completion, now: number): Promise<OwnerOutcome> {
    return this.change(key, (record) => completeStep(record, owner, completion, now))
  }

  fail(key: RecordKey, owner: string, error: string | undefined, now: number): Promise<OwnerOutcome> {
    return this.change(key, (record) => failStep(record, owner, error, now))
  }

  release(key: RecordKey, owner: string, now: number): Promise<OwnerOutcome> {
    return this.change(key, (record) => releaseStep(record, owner, now), true)
  }

  extend(key: RecordKey, owner: string, leaseMs: number, now: number): Promise<OwnerOutcome> {
    return this.change(key, (record) => extendStep(record, owner, leaseMs, now))
  }

  async read(key: RecordKey, now: number): Promise<StoredRecord | undefined> {
    this.environment.refresh()
    const record = this.get(key)
    return isLive(record, now) ? told(record as OwnedRecord) : undefined
  }

  async list(
    { operation, prefix, after, limit }: ListingRequest & { operation?: string },
    now: number,
  ): Promise<Listing<ListedRecord>> {
    this.environment.refresh()
    const { idempotency } = this.environment
    const behind = after === undefined ? undefined : placeParts(after, 2)
    const first = operation === undefined ? [RECORD] : [RECORD, operation, prefix]
    const start = behind === undefined ? first : [RECORD, ...behind]
    const items: ListedRecord[] = []
    let examined = 0
    for (const row of idempotency.getKeys({ start, end: [BEHIND_RECORDS] })) {
      const [, ofOperation, key] = row as string[]
      if (ofOperation === behind?.[0] && key === behind?.[1]) continue
      if (operation !== undefined && (ofOperation !== operation || !key!.startsWith(prefix))) break
      const record = key!.startsWith(prefix) ? this.head({ operation: ofOperation!, key: key! }) : undefined
      if (record !== undefined && record.expiresAt > now) items.push(record)
      const isFull = items.length === limit || ++examined === MAX_EXAMINED
      if (isFull) return { items, next: JSON.stringify([ofOperation, key]) }
    }
    return { items }
  }

  /** Without the response, which is not read. */
  private head(key: RecordKey): ListedRecord | undefined {
    const bytes = this.environment.idempotency.getBinaryFast(rowOf(key))
    return bytes && unpackHead(key, bytes)
  }

  remove(key: RecordKey): Promise<boolean> {
    return this.environment.free(() => {
      const record = this.get(key)
      if (record !== undefined) this.drop(record)
      return record !== undefined
    })
  }

  /** Reads first, on the calling thread: mostly there is nothing to delete. */
  async sweep(now: number): Promise<{ more: boolean }> {
    this.environment.refresh()
    const over = this.over(now)
    if (over.length > 0) await this.deleteExpired(now)
    return { more: over.length === SWEPT_PER_STEP }
  }

  /** The part of `sweep` that writes. */
  deleteExpired(now: number): Promise<void> {
    const { idempotency } = this.environment
    return this.environment.free(() => {
      for (const row of this.over(now)) {
        const [, , operation, key] = row
        idempotency.removeSync(row)
        idempotency.removeSync([RECORD, operation!, key!])
      }
    })
  }

  private over(now: number): Row[] {
    const range = { start: [UNTIL], end: [UNTIL, now + 1], limit: SWEPT_PER_STEP }
    return Array.from(this.environment.idempotency.getKeys(range))
  }

  private change(
    key: RecordKey,
    step: (record: OwnedRecord | undefined) => OwnerStep,
    isFreeing = false,
  ): Promise<OwnerOutcome> {
    const changing = (): OwnerOutcome => {
      const before = this.get(key)
      const after = step(before)
      if (after === 'lost' || after === 'differs') return after
      if (after === 'gone') this.drop(before!)
      else if (after !== 'same') this.put(after, before)
      return 'done'
    }
    return isFreeing ? this.environment.free(changing) : this.environment.write(changing)
  }

  private get(key: RecordKey): OwnedRecord | undefined {
    const bytes = this.environment.idempotency.get(rowOf(key))
    return bytes === undefined ? undefined : unpackRecord(key, bytes)
  }

  private put(record: OwnedRecord, before: OwnedRecord | undefined): void {
    const { idempotency } = this.environment
    idempotency.putSync(rowOf(record.key), packRecord(record))
    if (before?.expiresAt === record.expiresAt) return
    if (before !== undefined) idempotency.removeSync(untilRow(before))
    idempotency.putSync(untilRow(record), NOTHING)
  }

  private drop(record: OwnedRecord): void {
    this.environment.idempotency.removeSync(rowOf(record.key))
    this.environment.idempotency.removeSync(untilRow(record))
  }
}

const rowOf = ({ operation, key }: RecordKey): Row => [RECORD, operation, key]
const untilRow = ({ expiresAt, key }: OwnedRecord): Row => [UNTIL, expiresAt, key.operation, key.key]

function toOutcome(step: ClaimStep, now: number): ClaimOutcome {
  if ('found' in step) return { outcome: 'found', record: told(step.found), at: now }
  const { attempt, expiresAt, leaseUntil } = step.claimed
  return { outcome: 'claimed', attempt, expiresAt, leaseUntil: leaseUntil! }
}

/** Callers must not learn the owner token of others. */
function told({ owner: _, ...record }: OwnedRecord): StoredRecord {
  return record
}
