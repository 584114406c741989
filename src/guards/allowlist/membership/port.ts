import type { MaybePromise } from '../../../core/maybe-promise.js'
import type { ListRef, Position } from '../changes/port.js'
import type { PageRange } from './directory.js'
import type { FingerprintBits } from './fuse.js'

/** Lists the pages of a snapshot and its position in the log. Replaced as a whole. */
export interface Manifest {
  /** Version of this format. */
  format: 2
  /** Version of the snapshot, new for every build. */
  version: string
  incarnation: number
  /** The pages contain the changes up to these log entries. Later entries must be replayed. */
  position: Position
  fingerprintBits: FingerprintBits
  /** The hash key, hexadecimal. A secret of the list. */
  key: string
  customers: number
  sizeBytes: number
  builtAt: number
  tookMs: number
  /** How many pages the last build made. The others were reused. */
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

/** Keys of members, packed one after the other. */
export interface KeyBlock {
  bytes: Uint8Array
  /** Key i spans ends[i-1] (or 0) to ends[i]. */
  ends: Uint32Array
  count: number
}

/** Stores snapshots, and decides which process may build them. */
export interface IndexStore {
  manifest(list: ListRef): MaybePromise<Manifest | undefined>
  /** The version of the manifest. Cheap enough to read every second. */
  version(list: ListRef): MaybePromise<string | undefined>
  page(list: ListRef, name: string): MaybePromise<Uint8Array | undefined>
  /**
   * Makes this owner the builder of the list until the lease expires. False: another owner is the builder, or the
   * list was deleted.
   */
  claim(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean>
  /** Renews the lease. False: the claim was lost, and pages written under it may be deleted. */
  renew(list: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean>
  /** The owner that is building, if any. */
  builder(list: ListRef, now: number): MaybePromise<string | undefined>
  /** False: the owner is not the builder, and nothing was stored. */
  putPage(list: ListRef, owner: string, name: string, bytes: Uint8Array): Promise<boolean>
  /**
   * If the owner is still the builder and every page exists: switches to the manifest, deletes all pages it does
   * not list, and ends the claim.
   */
  publish(list: ListRef, owner: string, manifest: Manifest): Promise<boolean>
  /** Ends the claim of a failed build, and deletes its pages. */
  abandon(list: ListRef, owner: string): Promise<void>
  /** Scans the members. Changes during the scan may or may not be included. */
  scan(list: ListRef): AsyncIterable<KeyBlock>
  /** Adds to the counts of checks per list. */
  countUses(uses: ReadonlyMap<string, number>): Promise<void>
  /** The lists checked most, most used first. */
  mostUsed(limit: number): Promise<string[]>
}
