import type { Listing, ListingRequest } from '../../../core/listing.js'
import type {
  Claim,
  ClaimOutcome,
  Completion,
  IdempotencyStore,
  ListedRecord,
  OwnerOutcome,
  StoredRecord,
} from '../../../guards/idempotency/port.js'
import type { RecordKey } from '../../../guards/idempotency/types.js'
import { unlessForeign } from '../link/failures.js'
import type { Argument, Redis, RunOptions } from '../link/redis.js'
import { scanKeys } from '../link/scan-keys.js'
import { defineScript, type Script } from '../link/script.js'
import { type Found, listedRecord, recordOf } from './answers.js'
import { type ClaimReply, claimForm, completeForm } from './forms.js'
import { type RecordNaming, recordKeys, statePattern } from './keys.js'
import { NOT_TAKEN_OVER } from './state.js'

const RECORD = ['string', 'string'] as const
const shared = { keys: RECORD, together: 32, uses: ['clock', 'idempotency-record'] }
/** If a caller that lost the first reply repeats these, it gets the same reply. */
const repeatable = { ...shared, write: true, repeatable: true }
const CLAIM = defineScript('idempotency-claim', {
  ...repeatable,
  ...{ offers: ['idempotency-claim-found'], form: claimForm },
})
const COMPLETE = defineScript('idempotency-complete', { ...repeatable, form: completeForm })
const EXTEND = defineScript('idempotency-extend', repeatable)
const FAIL = defineScript('idempotency-fail', { ...shared, write: true })
const READ = defineScript('idempotency-read', { ...shared, write: false })
const REMOVE = defineScript('idempotency-remove', { keys: RECORD, together: 32, write: true })

/** Whose clock decides: the server's, or the caller's, which is for test suites. */
export type IdempotencyClock = 'server' | 'caller'

export interface IdempotencyOptions {
  clock: IdempotencyClock
  naming: RecordNaming
}

/** Indexed by the number that a script returns. */
const OUTCOMES: readonly OwnerOutcome[] = ['lost', 'done', 'differs']
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024
const BINARY: RunOptions = { binary: true }

/** Each method is one script over the two keys of a record. */
export class RedisIdempotency implements IdempotencyStore {
  /** A server is blocked while it copies a value. */
  readonly maxResponseBytes = MAX_RESPONSE_BYTES

  constructor(
    private readonly redis: Redis,
    private readonly options: IdempotencyOptions,
  ) {}

  /** Without `async`, here and below: promises cost as much as the rest of a call. */
  claim(claim: Claim, now: number): Promise<ClaimOutcome> {
    const { key, owner, requestHash, leaseMs, lifeMs, takesOver } = claim
    const terms = `${leaseMs} ${lifeMs} ${takesOver ? 1 : 0} ${this.time(now)}`
    const args = [terms, `${owner} ${requestHash}${takesOver ? '' : NOT_TAKEN_OVER}`]
    const asking = this.redis.run(CLAIM, recordKeys(this.options.naming, key), args, BINARY)
    return asking.then((reply) => outcomeOf(key, reply as ClaimReply))
  }

  complete(key: RecordKey, owner: string, completion: Completion, now: number): Promise<OwnerOutcome> {
    const { response, omittedBytes } = completion
    const args: Argument[] = [this.time(now), owner]
    if (response?.encoding === 'json') args.push(response.text, '')
    else if (response !== undefined) args.push(bufferOf(response.bytes), 'gzip')
    else args.push('', omittedBytes === undefined ? 'none' : `none ${omittedBytes}`)
    return this.byOwner(COMPLETE, key, args)
  }

  fail(key: RecordKey, owner: string, error: string | undefined, now: number): Promise<OwnerOutcome> {
    const args = [owner, this.time(now), 'fail', ...(error === undefined ? [] : [error])]
    return this.byOwner(FAIL, key, args)
  }

  release(key: RecordKey, owner: string, now: number): Promise<OwnerOutcome> {
    return this.byOwner(FAIL, key, [owner, this.time(now), 'release'])
  }

  extend(key: RecordKey, owner: string, leaseMs: number, now: number): Promise<OwnerOutcome> {
    return this.byOwner(EXTEND, key, [owner, this.time(now), String(leaseMs)])
  }

  read(key: RecordKey, now: number): Promise<StoredRecord | undefined> {
    const asking = this.redis.run(READ, recordKeys(this.options.naming, key), [this.time(now)], BINARY)
    return asking.then((reply) => (reply === null ? undefined : recordOf(key, reply as Found)))
  }

  /** Records of other programs have no state, and are not found. */
  async list(request: ListingRequest & { operation?: string }, now: number): Promise<Listing<ListedRecord>> {
    const { pattern, keyOf } = statePattern(this.options.naming, request)
    const { items: states, ...next } = await scanKeys(this.redis, pattern, request)
    const records = await Promise.all(
      states.map(async (state): Promise<ListedRecord[]> => {
        const line = (await this.redis.read(state, ['GET', state]).catch(unlessForeign)) as string | null
        const key = keyOf(state)
        return line == null || key === undefined ? [] : [listedRecord(key, line)]
      }),
    )
    const isHere = ({ expiresAt }: ListedRecord) => this.options.clock === 'server' || expiresAt > now
    return { items: records.flat().filter(isHere), ...next }
  }

  async remove(key: RecordKey): Promise<boolean> {
    return (await this.redis.run(REMOVE, recordKeys(this.options.naming, key), [])) === 1
  }

  /** All keys expire. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }

  private byOwner(script: Script, key: RecordKey, args: Argument[]): Promise<OwnerOutcome> {
    const asking = this.redis.run(script, recordKeys(this.options.naming, key), args)
    return asking.then((reply) => OUTCOMES[reply as number] ?? 'lost')
  }

  private time(now: number): string {
    return this.options.clock === 'caller' ? String(now) : ''
  }
}

function outcomeOf(key: RecordKey, reply: ClaimReply): ClaimOutcome {
  return Array.isArray(reply) ? { outcome: 'found', record: recordOf(key, reply), at: reply[1] } : reply
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
