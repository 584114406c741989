import { chunksOf } from '../../../core/chunks.js'
import { CatracaError } from '../../../core/errors.js'
import { readEntry, writeEntry } from '../../../guards/token-denylist/entry.js'
import type {
  Found,
  LogPart,
  LogPosition,
  Revocation,
  TokenStore,
} from '../../../guards/token-denylist/port.js'
import { type Item, numberOf, textOf } from '../client/attributes.js'
import type { DynamoClient, QueryInput } from '../client/client.js'
import { between } from '../client/key-ranges.js'
import { MAX_TRANSACTION_ITEMS } from '../client/transactions.js'
import {
  entryPut,
  isState,
  LOG_PARTITION,
  logKey,
  rowKey,
  rowPut,
  STATE_KEY,
  sequenceOf,
  stateUpdate,
} from './items.js'

const VERB = 'tokens'
/** Two items of a transaction are the log state and the log entry. */
const ROWS_AT_ONCE = MAX_TRANSACTION_ITEMS - 2
const TRIES_MS = 10_000
const PAUSE_MS = 20
const READ_ENTRIES = 500
const MAX_SEQUENCE = 10 ** 15 - 1

/**
 * Revoked tokens: one item each, and a log. A condition on the last number of the log numbers its entries. All is
 * written in one transaction.
 */
export class DynamodbTokens implements TokenStore {
  /** Writes of this process run one at a time, because they would conflict on the number. */
  private writing: Promise<unknown> = Promise.resolve()
  private last = 0

  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
  ) {}

  async revoke(revocations: readonly Revocation[]): Promise<void> {
    for (const part of chunksOf(revocations, ROWS_AT_ONCE)) {
      const written = this.writing.then(() => this.write(part))
      this.writing = written.catch(() => {})
      await written
    }
  }

  private async write(revocations: readonly Revocation[]): Promise<void> {
    const known = new Map<number, Item>()
    const endsAt = performance.now() + TRIES_MS
    const entry = writeEntry(revocations)
    for (let tries = 1; ; tries++) {
      const sequence = this.last + 1
      const result = await this.client.transactWrite(VERB, [
        stateUpdate(this.table, this.last),
        entryPut(this.table, sequence, entry, revocations),
        ...revocations.map((one, i) => rowPut(this.table, one, known.get(i))),
      ])
      if (result.applied) {
        this.last = sequence
        return
      }
      for (const { index, item } of result.refusals) this.learn(index, item, known)
      if (performance.now() > endsAt) {
        throw new CatracaError(
          'ENGINE_UNAVAILABLE',
          'other callers kept revoking tokens at the same time: nothing was changed',
        )
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS * Math.min(tries, 10)))
    }
  }

  /** A refusal contains the current item. */
  private learn(index: number, item: Item | undefined, known: Map<number, Item>): void {
    if (index === 0) this.last = item === undefined ? 0 : numberOf(item, 'sequence')
    else if (item === undefined) known.delete(index - 2)
    else known.set(index - 2, item)
  }

  async find(jti: string | undefined, subject: string | undefined, now: number): Promise<Found> {
    const [token, mark] = await Promise.all([
      jti === undefined ? undefined : this.row({ kind: 'token', id: jti }),
      subject === undefined ? undefined : this.row({ kind: 'subject', id: subject }),
    ])
    const isMarked = mark !== undefined && numberOf(mark, 'expiresAt') > now
    return {
      isRevoked: token !== undefined && numberOf(token, 'expiresAt') > now,
      notBefore: isMarked ? numberOf(mark, 'notBefore') : undefined,
      markExpiresAt: isMarked ? numberOf(mark, 'expiresAt') : undefined,
    }
  }

  private row(of: Pick<Revocation, 'kind' | 'id'>): Promise<Item | undefined> {
    return this.client.readItem(VERB, this.table, rowKey(of))
  }

  async position(): Promise<LogPosition> {
    const state = await this.client.readItem(VERB, this.table, STATE_KEY)
    return { sequence: state === undefined ? 0 : numberOf(state, 'sequence'), mark: 0 }
  }

  /** Reads the remaining entries. The revocations of deleted entries have expired. */
  async *all(now: number): AsyncGenerator<Revocation[]> {
    for await (const items of this.client.queryPages(VERB, this.entriesBehind(0, logKey(MAX_SEQUENCE)))) {
      const revocations = items.flatMap((item) => readEntry(textOf(item, 'entry')))
      yield revocations.filter(({ expiresAt }) => expiresAt > now)
    }
  }

  /**
   * A query is not a snapshot: an entry may be written between the reads of the entries and of the state. A second
   * read decides.
   */
  async read(after: LogPosition): Promise<LogPart | 'gap'> {
    const part = await this.readOnce(after)
    return part === 'gap' ? this.readOnce(after) : part
  }

  private async readOnce({ sequence }: LogPosition): Promise<LogPart | 'gap'> {
    const page = await this.client.query(VERB, {
      ...this.entriesBehind(sequence, 'STATE'),
      Limit: READ_ENTRIES,
    })
    // The state sorts after the last entry and has its number.
    const isEnd = page.next === undefined
    const state = isEnd ? page.items.find(isState) : undefined
    const entries = page.items.filter((item) => item !== state)
    const end = sequence + entries.length
    if (entries.some((item, i) => sequenceOf(item) !== sequence + 1 + i)) return 'gap'
    if (isEnd && (state === undefined ? 0 : numberOf(state, 'sequence')) !== end) return 'gap'
    return {
      revocations: entries.flatMap((item) => readEntry(textOf(item, 'entry'))),
      position: { sequence: end, mark: 0 },
      more: !isEnd,
    }
  }

  private entriesBehind(sequence: number, to: string): QueryInput {
    return { TableName: this.table, ...between(LOG_PARTITION, logKey(sequence + 1), to) }
  }

  /** Followers poll often enough. */
  watch(): () => void {
    return () => {}
  }

  /** TTL deletes expired items. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }
}
