/**
 * What the cache needs of an engine: its second tier. Values are kept by space and key; a key lives in its space only.
 *
 * **Fills.** Whoever wants to load a missing value begins a fill: it gets a lease on the key, under a token of its own,
 * and stores what it loaded on the condition that the lease is still its own. Everything that invalidates a key ends
 * its lease too: `write`, `remove`, `expire`, `removeTag`, `clear`, a `begin` that takes over, and the passing of the lease.
 * That is the generation of a key, and all of it: a fill that began before an invalidation finds its lease gone and
 * stores nothing, on whichever pod it runs, and nothing has to be kept for keys that nobody fills. Two ways to get there:
 *
 * - the lease is in the slot or item of the key, and an invalidation deletes it (Redis: `{whole key}:fill`, beside a
 *   value that is nothing but what the guard wrote, so that other programs can share the key);
 * - or invalidations of many keys are numbered, `begin` notes the last number in the lease, and what is stored carries
 *   it: an entry counts only while neither its space nor one of its tags has a greater one (embedded).
 *
 * **Tags** are known only when the value is. A fill that began before `removeTag` and stores its value with that tag
 * after it is refused as well, whatever the engine knew of it in between.
 *
 * **Cost.** Every verb is one round trip for all its keys (or one for each node), but `removeTag` and `clear`, which may
 * be done in bounded steps where entries carry no number to compare. When they resolve, nothing of before is read.
 *
 * **Time.** `now` is the caller's clock, in milliseconds. An engine with a clock of its own (Redis) goes by that. Lives
 * are given and told as what is left of them, so that no two clocks are compared.
 */
export interface CacheStore {
  /** The guard keeps no larger one. */
  readonly maxValueBytes: number
  /** In the order asked; a hit costs no more than reading the value and what is left of its life. */
  read(space: string, keys: readonly string[], now: number): Promise<readonly (StoredValue | undefined)[]>
  /**
   * Asked again with the token that holds the lease, it answers `filling` again: who lost an answer may repeat. Only
   * before it loads, though: the lease then begins anew, also when it was ended in between.
   */
  begin(space: string, keys: readonly string[], claim: FillClaim, now: number): Promise<readonly FillStart[]>
  /** Ends the fill: the value is kept, or, where the lease is no longer the fill's own, nothing is changed. */
  store(space: string, fills: readonly FilledItem[], now: number): Promise<readonly StoreOutcome[]>
  /** The load takes long: the lease runs from now on. False where it is no longer the fill's own; it stays ended. */
  renew(
    space: string,
    keys: readonly string[],
    lease: { token: string; leaseMs: number },
    now: number,
  ): Promise<readonly boolean[]>
  /** The load failed: others may begin at once. Does nothing for a lease that is another's. */
  release(space: string, keys: readonly string[], token: string): Promise<void>
  /** Takes the place of what is there, and ends fills that began before. */
  write(space: string, items: readonly CacheItem[], now: number): Promise<void>
  /** Whether there was one, in the order asked. Ends fills of these keys, also where nothing was there. */
  remove(space: string, keys: readonly string[], now: number): Promise<readonly boolean[]>
  /** No more than `keepMs` (at least 1) is left of what is there from now on. Ends fills of these keys, as `remove` does. */
  expire(space: string, keys: readonly string[], keepMs: number, now: number): Promise<void>
  removeTag(space: string, tag: string, now: number): Promise<void>
  clear(space: string, now: number): Promise<void>
  /**
   * Told within a second of what **other** instances wrote, removed and cleared (not of what loads stored: that
   * contradicts nothing). Notices are numbered without gaps inside the engine: whoever may have missed one is told
   * `lost`, and `resumed` when nothing can be missed any more; a gap that is noticed afterwards is both, one after the
   * other. Between them the listener believes nothing that it kept. Returns how to stop.
   */
  watch(listener: (notice: CacheNotice) => void): () => void
  /** Drops what is over, in a small step; engines that expire by themselves answer `more: false`. */
  sweep(now: number): Promise<{ more: boolean }>
}

/** Text, or bytes of any kind. An engine may give back the one for the other, as UTF-8. */
export type CacheValue = string | Uint8Array

export interface CacheItem {
  key: string
  value: CacheValue
  /** At least 1. The entry is gone when it has passed. */
  lifeMs: number
  tags: readonly string[]
}

export interface FilledItem extends CacheItem {
  token: string
  /** It contradicts the value before, and others are told, as of a write; a load only brings what the source says. */
  isChange: boolean
}

export interface StoredValue {
  value: CacheValue
  /** Of its life; Infinity for what another program wrote without an end. */
  leftMs: number
  /** Since it was stored, where the engine keeps that. */
  ageMs?: number
}

export interface FillClaim {
  /** Unique for ever, made by the caller; one for all keys of a call. */
  token: string
  /** A fill that takes longer stores nothing. */
  leaseMs: number
  /** An entry with more left than this needs no fill; Infinity: fill whatever is there. */
  freshAboveMs: number
  /** Also from whoever holds the lease, whose fill then stores nothing: for a write to the source. */
  takeOver: boolean
}

export type FillStart =
  /** The lease is the caller's. */
  | { state: 'filling' }
  /** There is an entry that needs no fill. */
  | { state: 'found'; entry: StoredValue }
  /** Another is filling, and has so long to do so. */
  | { state: 'held'; leftMs: number }

/** `void`: the key was invalidated since the fill began, or the lease has passed. */
export type StoreOutcome = 'stored' | 'void'

export type CacheNotice =
  | { kind: 'changed'; space: string; keys: readonly string[] }
  | { kind: 'tag'; space: string; tag: string }
  | { kind: 'cleared'; space: string }
  | { kind: 'lost' }
  | { kind: 'resumed' }
