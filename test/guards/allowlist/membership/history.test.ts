import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Overlay } from '../../../../src/guards/allowlist/membership/overlay.js'
import type { Snapshot } from '../../../../src/guards/allowlist/membership/snapshot.js'
import { buildPages, open, probeOf, snapshotOf } from './support.js'

/** Wide fingerprints, so that a false positive, which would be no error, practically never comes. */
const PAGES = { fingerprintBits: 32 as const, splitAbove: 12 }
const CUSTOMERS = Array.from({ length: 150 }, (_, i) => `customer-${i}`)

/** A list as a pod sees it, beside the plain truth: who is a member, and the log of how it came to be so. */
class List {
  readonly members = new Set<string>()
  private readonly log: { id: string; add: boolean }[] = []
  private overlay = new Overlay()
  private snapshot: Snapshot = snapshotOf(buildPages([], PAGES))
  /** The snapshot holds the changes up to here, and maybe some later ones. */
  private position = 0

  change(id: string, add: boolean): void {
    if (add) this.members.add(id)
    else this.members.delete(id)
    this.log.push({ id, add })
    this.follow(this.overlay, this.log.length)
  }

  private follow(overlay: Overlay, sequence: number): void {
    const { id, add } = this.log[sequence - 1]!
    if (add) overlay.add(probeOf(id), sequence)
    else overlay.remove(probeOf(id))
  }

  /** A build that read the list a little later than the position it notes. */
  rebuild(notedBefore: number): void {
    this.swap(snapshotOf(buildPages(this.members, PAGES)), notedBefore)
  }

  rebuildDirty(notedBefore: number): void {
    const ranges = this.snapshot.dirtyRanges(this.overlay)
    if (ranges.length === 0) return
    const pages = buildPages(this.members, { ...PAGES, ranges })
    this.swap(this.snapshot.withPages(pages.map(open)), notedBefore)
  }

  private swap(snapshot: Snapshot, notedBefore: number): void {
    this.snapshot = snapshot
    this.position = Math.max(this.position, this.log.length - notedBefore)
    this.restart()
  }

  /** A pod that starts: the snapshot from the store, the overlay from the log. */
  restart(): void {
    this.overlay = new Overlay()
    for (let sequence = this.position + 1; sequence <= this.log.length; sequence++)
      this.follow(this.overlay, sequence)
  }

  has(id: string): boolean {
    const probe = probeOf(id)
    const entry = this.overlay.find(probe)
    return entry >= 0 ? this.overlay.isAdded(entry) : this.snapshot.mayContain(probe.hi, probe.lo)
  }
}

type Step = (list: List) => void

function step<T>(weight: number, values: fc.Arbitrary<T>, act: (list: List, value: T) => void) {
  return {
    weight,
    arbitrary: values.map(
      (value): Step =>
        (list) =>
          act(list, value),
    ),
  }
}

const customers = fc.constantFrom(...CUSTOMERS)
const delays = fc.nat(5)
const steps = fc.oneof(
  step(20, customers, (list, id) => list.change(id, true)),
  step(10, customers, (list, id) => list.change(id, false)),
  step(1, fc.boolean(), (list, add) => {
    for (const id of CUSTOMERS) list.change(id, add)
  }),
  step(1, delays, (list, delay) => list.rebuild(delay)),
  step(2, delays, (list, delay) => list.rebuildDirty(delay)),
  step(2, fc.constant(0), (list) => list.restart()),
)

describe('snapshot and overlay together', () => {
  it('answer as a Set does, over any history of changes, rebuilds, splits and restarts', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 120 }), (history) => {
        const list = new List()
        for (const act of history) {
          act(list)
          for (const id of CUSTOMERS) assert.equal(list.has(id), list.members.has(id), id)
        }
      }),
      { numRuns: 150 },
    )
  })
})
