import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { openEmbedded } from '../../../src/engines/embedded/index.js'
import type { ImportLimits } from '../../../src/guards/allowlist/import/limits.js'
import { runImport } from '../../../src/guards/allowlist/import/pipeline.js'
import type { AllowlistEngine, ImportRecord, MemberAttributes } from '../../../src/guards/allowlist/port.js'
import type { ImportMode, ImportOptions, ImportResult } from '../../../src/guards/allowlist/types.js'
import { ids, pieces } from './bodies.js'
import { FaultyBulk } from './faulty-bulk.js'

const LEASE_MS = 60_000
const GIB = 2 ** 30

/** One list of an embedded engine, with a clock of its own and faults to inject. */
export class TestList {
  readonly clock = new ManualClock(1_000_000)
  readonly bulk: FaultyBulk

  constructor(
    readonly engine: AllowlistEngine,
    readonly id: string,
  ) {
    this.bulk = new FaultyBulk(engine.bulk)
  }

  /** What is said of each member, in key order. */
  async members(): Promise<[string, MemberAttributes][]> {
    const found: [string, MemberAttributes][] = []
    let next: string | undefined
    do {
      const page = await this.engine.members.page(this.id, next, 1000)
      assert.ok(page !== undefined, 'the list is gone')
      for (const { customerId, addedAt: _, ...attributes } of page.members)
        found.push([customerId, attributes])
      next = page.next
    } while (next !== undefined)
    return found
  }

  async names(): Promise<string[]> {
    return (await this.members()).map(([id]) => id)
  }

  async addedAt(customerId: string): Promise<number | undefined> {
    return (await this.engine.members.get(this.id, customerId))?.addedAt
  }

  async record(importId = 'i1', now = this.clock.now()): Promise<ImportRecord> {
    const record = await this.engine.bulk.status(this.id, importId, now)
    assert.ok(record !== undefined, `no record of ${importId}`)
    return record
  }

  async remove(customerId: string): Promise<void> {
    const { outcome } = await this.engine.members.remove(this.id, customerId, this.clock.now())
    assert.equal(outcome, 'removed')
  }

  async delete(): Promise<void> {
    assert.ok(await this.engine.lists.delete(this.id, this.clock.now()))
  }

  /** As if the process that runs the import had died, and its lease had run out since. */
  expireLeases(): void {
    this.clock.advance(LEASE_MS)
  }

  /** Another process goes on with the import: one whose clock says that the lease has run out. */
  async takeOver(mode: ImportMode, leaseMs = LEASE_MS, clock = this.clock): Promise<void> {
    const request = { listId: this.id, importId: 'i1', mode, owner: 'another', leaseMs }
    const { outcome } = await this.engine.bulk.begin(request, clock.now() + leaseMs)
    assert.equal(outcome, 'resumed')
  }

  /** The result without its token, once that is seen to be one of this store. */
  withoutToken({ token, ...result }: ImportResult): Omit<ImportResult, 'token'> {
    this.engine.checks.view({ atLeast: token })
    return result
  }
}

/** Opens an engine for the tests of this file; what it returns makes a list that holds these customers. */
export function listFactory(): (...members: string[]) => Promise<TestList> {
  const directory = mkdtempSync(join(temporaryRoot(), 'catraca-test-'))
  const engine = openEmbedded({ directory })
  after(async () => {
    await engine.close()
    rmSync(directory, { recursive: true, force: true })
  })
  let lists = 0
  return async (...members) => {
    const list = new TestList(engine.allowlists, `list-${++lists}`)
    const record = {
      id: list.id,
      name: 'List',
      type: 'FIXA',
      precision: 'exact',
      salt: '0'.repeat(32),
    } as const
    await engine.allowlists.lists.create(record, list.clock.now())
    if (members.length > 0) {
      await importInto(list, ids(...members), { importId: 'before', addedBy: 'before' })
      list.bulk.heal()
      list.bulk.endings = []
    }
    return list
  }
}

/** In memory where there is plenty: a commit waits for the disk, and the property tests make thousands. */
function temporaryRoot(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize > GIB) return '/dev/shm'
  } catch {
    // Not on this system.
  }
  return tmpdir()
}

export interface Attempt extends ImportOptions {
  limits?: Partial<ImportLimits>
  takesExpiry?: boolean
  spillDir?: string
  leaseMs?: number
  clock?: ManualClock
}

/** Runs an import with what a test does not say filled in. */
export function importInto(
  list: TestList,
  body: string | AsyncIterable<Uint8Array>,
  attempt: Attempt = {},
): Promise<ImportResult> {
  const {
    limits = {},
    takesExpiry = true,
    spillDir = '/nonexistent',
    leaseMs = LEASE_MS,
    clock = list.clock,
    ...options
  } = attempt
  return runImport({
    bulk: list.bulk,
    members: list.engine.members,
    listId: list.id,
    body: typeof body === 'string' ? pieces(body) : body,
    options: { mode: 'add', format: 'text', importId: 'i1', ...options },
    clock,
    spillDir,
    leaseMs,
    limits,
    takesExpiry,
  })
}
