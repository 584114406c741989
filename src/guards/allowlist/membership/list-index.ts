import { EntryWriter, isReset, readEntry } from '../changes/entry.js'
import type { Followed } from '../changes/follower.js'
import type { ListRef, LogEntry, LogPosition, Position } from '../changes/port.js'
import { MAX_CUSTOMER_KEY_LENGTH } from '../customer-key.js'
import type { MemberState } from '../port.js'
import { CustomerProbe, type HashKey } from './hash.js'
import type { LoadedSnapshot } from './load.js'
import { Overlay } from './overlay.js'
import type { Manifest } from './port.js'
import type { Snapshot } from './snapshot.js'

/** What memory knows about a customer. */
export type Finding = 'no' | 'maybe' | MemberState

const TRUSTED_MEMBER: MemberState = {}

/** The image of one list in memory: an immutable snapshot, and the exact changes since then. */
export class ListIndex implements Followed {
  behind = false
  freshAtMs = Number.NEGATIVE_INFINITY
  generation: number | undefined
  /** The log cannot repair it: the index must be loaded or built again. */
  isLost = false
  /** Number of entries applied. */
  changes = 0
  /** Logical time of the last use, set by `Indexes`. */
  lastUsed = 0
  readonly position: LogPosition[]
  /** Position of the snapshot. Later changes are in the overlay. */
  readonly snapshotPosition: Position
  readonly snapshot: Snapshot
  private overlay = new Overlay()
  private readonly applying = new CustomerProbe()

  constructor(
    readonly list: ListRef,
    readonly manifest: Manifest,
    private readonly key: HashKey,
    readonly loaded: LoadedSnapshot,
    position: Position,
    private readonly on: {
      changed(customer: { bytes: Uint8Array; start: number; end: number }): void
      lost(): void
    },
  ) {
    this.snapshot = loaded.snapshot
    this.position = [...position]
    this.snapshotPosition = position
  }

  get overlaySize(): number {
    return this.overlay.size
  }

  get sizeBytes(): number {
    return this.snapshot.sizeBytes + this.overlay.sizeBytes
  }

  get isUsable(): boolean {
    return !this.behind && !this.isLost
  }

  /** `probe` must be set to the customer. */
  find(probe: CustomerProbe, trusted: boolean): Finding {
    const { overlay, snapshot } = this
    probe.hash(this.key)
    if (overlay.size > 0) {
      const entry = overlay.find(probe)
      if (entry >= 0) return overlay.isAdded(entry) ? stateOf(overlay, entry) : 'no'
    }
    if (!snapshot.mayContain(probe.hi, probe.lo)) return 'no'
    return trusted ? TRUSTED_MEMBER : 'maybe'
  }

  /** Whether the customer was added or removed since the snapshot. */
  isChanged(probe: CustomerProbe): boolean {
    probe.hash(this.key)
    return this.overlay.size > 0 && this.overlay.find(probe) >= 0
  }

  apply({ bytes: entry }: LogEntry): void {
    if (this.isLost) return
    this.changes++
    if (isReset(entry)) {
      this.lost()
      return
    }
    const { applying, overlay, key } = this
    readEntry(entry, {
      added: (bytes, start, end, addedAt, expiresAt) => {
        applying.setKey(bytes, start, end)
        applying.hash(key)
        overlay.add(applying, addedAt, expiresAt)
        this.on.changed({ bytes, start, end })
      },
      removed: (bytes, start, end) => {
        applying.setKey(bytes, start, end)
        applying.hash(key)
        overlay.remove(applying)
        this.on.changed({ bytes, start, end })
      },
    })
  }

  /** All changes since the snapshot, as one entry of a log. Empty if there are none. */
  changesSinceSnapshot(): Uint8Array {
    const { overlay } = this
    const writer = new EntryWriter()
    const key = new Uint8Array(MAX_CUSTOMER_KEY_LENGTH)
    for (let entry = 0; entry < overlay.size; entry++) {
      const end = overlay.writeKey(entry, key, 0)
      if (!overlay.isAdded(entry)) writer.removed(key, 0, end)
      else writer.added(key, 0, end, overlay.addedAt(entry), overlay.expiresAt(entry))
    }
    return writer.bytes()
  }

  lost(): void {
    if (this.isLost) return
    this.isLost = true
    this.on.lost()
  }
}

function stateOf(overlay: Overlay, entry: number): MemberState {
  const addedAt = overlay.addedAt(entry)
  const expiresAt = overlay.expiresAt(entry)
  return expiresAt === undefined ? { addedAt } : { addedAt, expiresAt }
}
