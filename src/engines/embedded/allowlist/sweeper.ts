import { afterSwitch, afterUndo, type Change } from '../../../guards/allowlist/generation-changes.js'
import type { UpkeepStore } from '../../../guards/allowlist/port.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import { ImportRecords } from './imports.js'
import type { EmbeddedIndexStore } from './index-store.js'
import type { Journal } from './journal.js'
import { listEnd, listStart, readNumber } from './keys.js'
import { attributesAt, decodeRow, type Row, visible } from './member-row-codec.js'
import { MemberRows, tally } from './member-rows.js'
import { addSweep, dropSweep, pendingSweeps, type Sweep, sweepKey } from './sweeps.js'

/** Rows per step: it holds the write lock for some milliseconds. */
const REMOVED_PER_STEP = 1000
const SCANNED_PER_STEP = 5000
const EXPIRED_PER_STEP = 200
const FINISHED_IMPORTS_KEPT_MS = 7 * 24 * 3600 * 1000

type GenerationSweep = Extract<Sweep, { kind: 'generation' | 'undo' }>

/** Cleans up in small steps what changes left behind. Any process may run it, and several at once do no harm. */
export class Sweeper implements UpkeepStore {
  private readonly rows: MemberRows
  private readonly records: ImportRecords
  /** How far each walk over a list has come. After a restart it begins again. */
  private readonly positions = new Map<string, Uint8Array>()

  constructor(
    private readonly environment: Environment,
    private readonly catalog: Catalog,
    private readonly journal: Journal,
    private readonly index: EmbeddedIndexStore,
  ) {
    this.rows = new MemberRows(environment)
    this.records = new ImportRecords(environment, catalog)
  }

  /** Whether a sweep has something to look at. */
  hasDue(now: number): boolean {
    this.environment.refresh()
    const { imports, builds } = this.environment
    return (
      this.expired(now, 1).length > 0 ||
      [imports, builds].some((rows) => Array.from(rows.getKeys({ limit: 1 })).length > 0) ||
      pendingSweeps(this.environment, 1).length > 0
    )
  }

  async sweep(now: number): Promise<{ swept: number; more: boolean }> {
    this.environment.refresh()
    const expired = await this.removeExpired(now)
    await this.forgetOldImports(now)
    await this.endDeadBuilds(now)
    const sweeps = pendingSweeps(this.environment, 100)
    for (const sweep of sweeps) {
      if (sweep.kind === 'watch') await this.watch(sweep, now)
    }
    const due = sweeps.find((sweep) => sweep.kind !== 'watch')
    if (due !== undefined) await this.step(due)
    return {
      swept: expired + Number(due !== undefined),
      more: due !== undefined || expired === EXPIRED_PER_STEP,
    }
  }

  /** One step. Resolves to true when the sweep is done. */
  step(sweep: Sweep): Promise<boolean> {
    switch (sweep.kind) {
      case 'list':
        return this.removeList(sweep)
      case 'generation':
      case 'undo':
        return this.walk(sweep)
      case 'watch':
        return Promise.resolve(true)
    }
  }

  private removeList(sweep: Extract<Sweep, { kind: 'list' }>): Promise<boolean> {
    const { members, imports, log } = this.environment
    const range = { start: listStart(sweep.no), end: listEnd(sweep.no), limit: REMOVED_PER_STEP }
    return this.environment.free(() => {
      const rows = Array.from(members.getRange(range))
      for (const { key, value } of rows) {
        this.rows.key.ofBytes(sweep.no, key, 4, key.length)
        this.rows.remove(decodeRow(value))
      }
      if (rows.length === REMOVED_PER_STEP) return false
      for (const database of [imports, log]) {
        const keys = Array.from(database.getKeys(range))
        for (const key of keys) database.removeSync(key)
        if (keys.length === REMOVED_PER_STEP) return false
      }
      this.removeIndex(sweep)
      if (this.catalog.readAny(sweep.id)?.no === sweep.no) this.catalog.drop(sweep.id, sweep.no)
      dropSweep(this.environment, sweep)
      return true
    })
  }

  /** In a write transaction. A running build loses its claim with the list. */
  private removeIndex({ no, id }: { no: number; id: string }): void {
    const { manifests, builds, uses } = this.environment
    manifests.removeSync(listStart(no))
    builds.removeSync(listStart(no))
    this.index.dropPages(no, new Set())
    if (this.catalog.readAny(id)?.no === no) uses.removeSync(id)
  }

  /** Reads the next batch of a list's rows and repairs those that the sweep is for. */
  private async walk(sweep: GenerationSweep): Promise<boolean> {
    const name = sweepKey(sweep)
    const start = this.positions.get(name) ?? listStart(sweep.no)
    const range = { start, end: listEnd(sweep.no), limit: SCANNED_PER_STEP }
    const scanned = Array.from(this.environment.members.getRange(range))
    const touched = scanned.filter(({ value }) => mended(sweep, decodeRow(value)) !== 'as it is')
    const done = scanned.length < SCANNED_PER_STEP
    if (touched.length > 0 || done) {
      await this.environment.free(() => {
        const list = this.catalog.readNumber(sweep.no)?.stored
        if (list !== undefined) for (const { key } of touched) this.mend(key, sweep)
        if (done) dropSweep(this.environment, sweep)
      })
    }
    if (done) this.positions.delete(name)
    else this.positions.set(name, Uint8Array.from([...(scanned.at(-1)!.key as Uint8Array), 0]))
    return done
  }

  /** In a write transaction. No count changes, because no row that a generation sees is changed. */
  private mend(key: Uint8Array, sweep: GenerationSweep): void {
    this.rows.key.ofBytes(sweep.no, key, 4, key.length)
    const row = this.rows.read()
    if (row === undefined) return
    const after = mended(sweep, row)
    if (after === 'as it is') return
    if (after === undefined) this.rows.remove(row)
    else this.rows.put(after, row)
  }

  private expired(now: number, limit: number): unknown[] {
    const time = Buffer.alloc(6)
    time.writeUIntBE(now + 1, 0, 6)
    return Array.from(this.environment.expiry.getKeys({ start: Uint8Array.of(0), end: time, limit }))
  }

  private async removeExpired(now: number): Promise<number> {
    const due = this.expired(now, EXPIRED_PER_STEP)
    if (due.length === 0) return 0
    await this.environment.free(() => {
      for (const key of due as Uint8Array[]) this.expire(key, now)
    })
    return due.length
  }

  /** In a write transaction. */
  private expire(key: Uint8Array, now: number): void {
    this.environment.expiry.removeSync(key)
    const found = this.catalog.readNumber(readNumber(key, 6))
    if (found === undefined) return
    const list = found.stored
    this.rows.key.ofBytes(list.no, key, 10, key.length)
    const row = this.rows.read()
    const expiresAt = row && attributesAt(row, list.generation).expiresAt
    // A replace that is running, or has just switched, gave it other attributes. The sweep after the replace handles
    // it.
    if (row === undefined || row.next !== undefined || expiresAt === undefined || expiresAt > now) return
    const counters = this.catalog.counters(list.no)
    this.rows.remove(row)
    tally(counters, list, row, undefined)
    if (visible(row, list.generation)) {
      this.journal.begin()
      this.journal.removed(this.rows.key)
      this.journal.commit(list.no, counters)
    }
    this.catalog.storeCounters(list.no, counters)
  }

  /** Abandons a replace whose import died. */
  private watch(sweep: Extract<Sweep, { kind: 'watch' }>, now: number): Promise<void> {
    return this.environment.free(() => {
      const list = this.catalog.readNumber(sweep.no)?.stored
      if (list?.replacing?.importId !== sweep.importId || list.replacing.generation !== sweep.generation) {
        dropSweep(this.environment, sweep)
      } else if (!this.records.isLive(sweep.no, sweep.importId, now)) {
        const { replacing: _, ...rest } = list
        this.catalog.store(sweep.id, rest)
        dropSweep(this.environment, sweep)
        addSweep(this.environment, { kind: 'undo', no: sweep.no, id: sweep.id, generation: sweep.generation })
      }
    })
  }

  /** If the process of a build died, deletes the pages that no manifest names. */
  private async endDeadBuilds(now: number): Promise<void> {
    const claims = Array.from(this.environment.builds.getRange({ start: Uint8Array.of(0), limit: 100 }))
    const dead = claims
      .map(({ key }) => readNumber(key, 0))
      .filter((no) => this.index.liveClaim(no, now) === undefined)
    if (dead.length === 0) return
    await this.environment.free(() => {
      for (const no of dead) if (this.index.liveClaim(no, now) === undefined) this.index.endClaim(no)
    })
  }

  private async forgetOldImports(now: number): Promise<void> {
    const old = (value: Buffer): boolean =>
      JSON.parse(value.toString()).updatedAt < now - FINISHED_IMPORTS_KEPT_MS
    const name = 'imports'
    const start = this.positions.get(name) ?? Uint8Array.of(0)
    const scanned = Array.from(this.environment.imports.getRange({ start, limit: 50 }))
    const last = scanned.at(-1)
    if (scanned.length < 50 || last === undefined) this.positions.delete(name)
    else this.positions.set(name, Uint8Array.from([...last.key, 0]))
    const due = scanned.filter(({ value }) => old(value))
    if (due.length === 0) return
    await this.environment.free(() => {
      for (const { key } of due) this.environment.imports.removeSync(key)
    })
  }
}

const mended = ({ kind, generation }: GenerationSweep, row: Row): Change<Row> =>
  kind === 'undo' ? afterUndo(row, generation) : afterSwitch(row, generation)
