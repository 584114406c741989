import type { Listing, ListingRequest } from '../../core/listing.js'

/**
 * What the cache needs from an engine: its second tier. Values are stored by space and key. The same key in two
 * spaces is two entries.
 *
 * **Fills.** To load a missing value, a caller begins a fill. It gets a lease on the key under its own token, and
 * stores the loaded value only if it still holds the lease. Everything that invalidates a key also ends its lease:
 * `write`, `remove`, `expire`, `removeTag`, `clear`, a `begin` that takes over, and the expiry of the lease. The
 * lease thus serves as the key's generation: a fill that began before an invalidation has lost its lease and
 * stores nothing, on any pod, and the engine stores nothing for keys that are not being filled. There are two ways to
 * implement this:
 *
 * - the lease is in the slot or item of the key, and an invalidation deletes it (Redis: `{whole key}:fill`, beside
 *   a value that holds only what the guard wrote, so that other programs can share the key);
 * - or invalidations of many keys are numbered. `begin` stores the last number in the lease, and the stored entry
 *   carries it. An entry is valid only while neither its space nor any of its tags has a greater number
 *   (embedded).
 *
 * **Tags** are known only once the value is loaded. A fill that began before `removeTag` and stores its value with
 * that tag afterwards is refused too, even though the engine did not know the tag when the fill began.
 *
 * **Cost.** Every verb is one round trip for all its keys (or one per node). The exceptions are `removeTag` and
 * `clear`, which may run in bounded steps where entries carry no number. After they resolve, no earlier entry is
 * read.
 *
 * **Time.** `now` is the caller's clock, in milliseconds. An engine with its own clock (Redis) uses that instead.
 * Lifetimes are passed and returned as remaining milliseconds, so clocks are never compared.
 */
export interface CacheStore {
  /** The guard stores no value larger than this. */
  readonly maxValueBytes: number
  /** Results in the order of `keys`. A hit costs only reading the value and its remaining lifetime. */
  read(space: string, keys: readonly string[], now: number): Promise<readonly (StoredValue | undefined)[]>
  /**
   * Repeated with the token that holds the lease, it returns `filling` again, so a caller that lost the response
   * may retry. Retry only before loading: the lease starts anew, even if an invalidation ended it in between.
   */
  begin(space: string, keys: readonly string[], claim: FillClaim, now: number): Promise<readonly FillStart[]>
  /** Ends the fill: stores the value if the fill still holds the lease, otherwise changes nothing. */
  store(space: string, fills: readonly FilledItem[], now: number): Promise<readonly StoreOutcome[]>
  /**
   * Restarts the lease from now, for a slow load. False if the fill no longer holds the
   * lease; an ended lease stays ended.
   */
  renew(
    space: string,
    keys: readonly string[],
    lease: { token: string; leaseMs: number },
    now: number,
  ): Promise<readonly boolean[]>
  /** The load failed: another caller may begin at once. Does nothing if another token holds the lease. */
  release(space: string, keys: readonly string[], token: string): Promise<void>
  /** Replaces existing entries, and ends fills that began earlier. */
  write(space: string, items: readonly CacheItem[], now: number): Promise<void>
  /** Whether each entry existed, in the order of `keys`. Ends fills of these keys, also where no entry existed. */
  remove(space: string, keys: readonly string[], now: number): Promise<readonly boolean[]>
  /** Limits the remaining lifetime to `keepMs` (at least 1). Ends fills of these keys, as `remove` does. */
  expire(space: string, keys: readonly string[], keepMs: number, now: number): Promise<void>
  /** Entries by the beginning of their key. */
  list(space: string, request: ListingRequest, now: number): Promise<Listing<ListedEntry>>
  removeTag(space: string, tag: string, now: number): Promise<void>
  clear(space: string, now: number): Promise<void>
  /**
   * Notifies the listener, within a second, of what **other** instances wrote, removed and cleared. Stored loads
   * are not reported: they do not contradict what a reader holds. Inside the engine, notices are numbered without
   * gaps. When a notice may have been missed, the listener gets `lost`, and `resumed` once no more can be missed.
   * A gap detected afterwards is reported as `lost` and then `resumed`. Between the two, the listener must not
   * trust its cached entries. Returns a function that stops watching.
   */
  watch(listener: (notice: CacheNotice) => void): () => void
  /** Deletes expired entries in a small step. Engines that expire entries themselves return `more: false`. */
  sweep(now: number): Promise<{ more: boolean }>
}

export interface ListedEntry extends Omit<StoredValue, 'value'> {
  key: string
  sizeBytes?: number
}

/** Text or bytes. An engine may return text as UTF-8 bytes, and bytes as text. */
export type CacheValue = string | Uint8Array

export interface CacheItem {
  key: string
  value: CacheValue
  /** At least 1. The entry expires after this time. */
  lifeMs: number
  tags: readonly string[]
}

export interface FilledItem extends CacheItem {
  token: string
  /**
   * The value contradicts the previous one, so other instances are notified as for a write. A plain load only
   * repeats the source and is not published.
   */
  isChange: boolean
}

export interface StoredValue {
  value: CacheValue
  /** Remaining lifetime. Infinity for a value that another program wrote without an expiry. */
  leftMs: number
  /** Time since it was stored, where the engine records it. */
  ageMs?: number
}

export interface FillClaim {
  /** Globally unique, made by the caller. One token for all keys of a call. */
  token: string
  /** A fill that takes longer than this stores nothing. */
  leaseMs: number
  /** An entry with a longer remaining lifetime needs no fill. Infinity: fill in any case. */
  freshAboveMs: number
  /** Takes the lease even from another holder, whose fill then stores nothing. For writes to the source. */
  takeOver: boolean
}

export type FillStart =
  /** The caller holds the lease. */
  | { state: 'filling' }
  /** An entry exists that needs no fill. */
  | { state: 'found'; entry: StoredValue }
  /** Another caller holds the lease for `leftMs` more. */
  | { state: 'held'; leftMs: number }

/** `void`: the key was invalidated after the fill began, or the lease expired. */
export type StoreOutcome = 'stored' | 'void'

export type CacheNotice =
  | { kind: 'changed'; space: string; keys: readonly string[] }
  | { kind: 'tag'; space: string; tag: string }
  | { kind: 'cleared'; space: string }
  | { kind: 'lost' }
  | { kind: 'resumed' }
