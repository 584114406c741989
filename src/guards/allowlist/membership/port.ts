import type { MaybePromise } from '../../../core/maybe-promise.js'
import type { ListRef, Position } from '../changes/port.js'
import type { PageRange } from './directory.js'
import type { FingerprintBits } from './fuse.js'

/** Names the pages of a list's snapshot, and where in the log the snapshot stands. Swapped as a whole. */
export interface Manifest {
  /** Of this format. */
  format: 2
  /** Of the snapshot: another one for every build. */
  version: string
  incarnation: number
  /** Changes up to these entries of the logs are in the pages; those behind them must be replayed. */
  position: Position
  fingerprintBits: FingerprintBits
  /** The hash key, hexadecimal; a secret of the list. */
  key: string
  customers: number
  sizeBytes: number
  builtAt: number
  tookMs: number
  /** How many of the pages were made by the last build; the others were kept. */
  rebuiltPages: number
  pages: ManifestPage[]
}

export interface ManifestPage {
  name: string
  range: PageRange
  count: number
  checksum: number
  sizeBytes: number
}

/** Keys of members, packed one behind the other. */
export interface KeyBlock {
  bytes: Uint8Array
  /** Key i stands from ends[i-1], or 0, to ends[i]. */
  ends: Uint32Array
  count: number
}

/** Where snapshots are kept, and who may build them. */
export interface IndexStore {
  manifest(list: ListRef): MaybePromise<Manifest | undefined>
  /** The version of the manifest: cheap enough to be asked every second. */
  version(list: ListRef): MaybePromise<string | undefined>
  page(list: ListRef, name: string): MaybePromise<Uint8Array | undefined>
  /** Makes this owner the builder of the list until the lease ends. False: somebody else is, or the list is gone. */
  claim(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean>
  /** Prolongs the lease. False: the claim was lost, and what was written under it may be gone. */
  renew(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean>
  /** Who builds, if anybody does. */
  builder(list: ListRef, now: number): MaybePromise<string | undefined>
  /** False, and nothing stored: the owner is not the builder. */
  putPage(list: ListRef, owner: string, name: string, bytes: Uint8Array): Promise<boolean>
  /** If the owner still is the builder and every page is there: switches to the manifest, drops every page it does not name, ends the claim. */
  publish(list: ListRef, owner: string, manifest: Manifest): Promise<boolean>
  /** Ends the claim of a build that failed, and drops its pages. */
  abandon(list: ListRef, owner: string): Promise<void>
  /** The members, as they are while it runs: changes meanwhile may be in it or not. */
  scan(list: ListRef): AsyncIterable<KeyBlock>
  /** Adds to the counts of how often lists were checked. */
  countUses(uses: ReadonlyMap<string, number>): Promise<void>
  /** The lists that were checked most, first the most used. */
  mostUsed(limit: number): Promise<string[]>
}
