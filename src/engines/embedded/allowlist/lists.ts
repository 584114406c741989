import { refusalOf } from '../../../guards/allowlist/list-set.js'
import type {
  CreateOutcome,
  ListChange,
  ListRecord,
  ListSetOutcome,
  ListSetStep,
  ListStore,
  NewListRecord,
  UpdateOutcome,
} from '../../../guards/allowlist/port.js'
import { readable } from '../../../guards/allowlist/unreadable.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import { listStart } from './keys.js'
import { decodeList, NEW_COUNTERS, type StoredList } from './meta.js'
import { addSweep } from './sweeps.js'

export class EmbeddedLists implements ListStore {
  constructor(
    private readonly environment: Environment,
    private readonly catalog: Catalog,
  ) {}

  create(list: NewListRecord, now: number): Promise<CreateOutcome> {
    return this.environment.write(() => this.created(list, now))
  }

  private created(list: NewListRecord, now: number): CreateOutcome {
    const existing = this.catalog.readAny(list.id)
    if (existing !== undefined) return { outcome: existing.deleted ? 'being-deleted' : 'exists' }
    const { id, ...given } = list
    const stored: StoredList = {
      ...given,
      no: this.catalog.nextNumber(),
      version: 1,
      createdAt: now,
      generation: 0,
      lastGeneration: 0,
    }
    this.catalog.store(id, stored)
    this.environment.numbers.putSync(listStart(stored.no), id)
    this.catalog.storeCounters(stored.no, { ...NEW_COUNTERS, updatedAt: now })
    return { outcome: 'created', list: this.catalog.record(id, stored) }
  }

  async get(id: string): Promise<ListRecord | undefined> {
    this.environment.refresh()
    const stored = this.catalog.read(id)
    return stored && this.catalog.record(id, stored)
  }

  async page(after: string | undefined, limit: number): Promise<ListRecord[]> {
    this.environment.refresh()
    const records: ListRecord[] = []
    const range = this.environment.lists.getRange(after === undefined ? {} : { start: after })
    for (const { key, value } of range) {
      const [stored] = readable([() => decodeList(key, value)])
      if (stored === undefined || key === after || stored.deleted) continue
      records.push(this.catalog.record(key, stored))
      if (records.length === limit) break
    }
    return records
  }

  update(id: string, change: ListChange, now: number): Promise<UpdateOutcome> {
    return this.environment.write(() => this.updated(id, change, now))
  }

  private updated(id: string, { ifVersion, ...change }: ListChange, now: number): UpdateOutcome {
    const stored = this.catalog.read(id)
    if (stored === undefined) return { outcome: 'not-found' }
    if (ifVersion !== undefined && ifVersion !== stored.version) {
      return { outcome: 'version-mismatch', version: stored.version }
    }
    Object.assign(stored, change)
    stored.version++
    this.catalog.store(id, stored)
    this.catalog.storeCounters(stored.no, { ...this.catalog.counters(stored.no), updatedAt: now })
    return { outcome: 'updated', list: this.catalog.record(id, stored) }
  }

  delete(id: string): Promise<boolean> {
    return this.environment.free(() => this.deleted(id))
  }

  private deleted(id: string): boolean {
    const stored = this.catalog.read(id)
    if (stored === undefined) return false
    this.catalog.store(id, { ...stored, deleted: true })
    addSweep(this.environment, { kind: 'list', no: stored.no, id })
    return true
  }

  changeAll(steps: readonly ListSetStep[], now: number): Promise<ListSetOutcome> {
    return this.environment.write((): ListSetOutcome => {
      const refusal = refusalOf(steps, (id) => this.catalog.readAny(id))
      if (refusal !== undefined) return refusal
      for (const step of steps) {
        if (step.step === 'create') this.created(step.list, now)
        else if (step.step === 'delete') this.deleted(step.id)
        else this.updated(step.id, step, now)
      }
      return { outcome: 'changed' }
    })
  }
}
