import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allMembers, countOf, NOW } from '../../src/conformance/support.js'
import { type Clock, ManualClock } from '../../src/core/clock.js'
import type { ImportJob } from '../../src/guards/allowlist/import/job.js'
import { runImport } from '../../src/guards/allowlist/import/pipeline.js'
import type { AllowlistEngine } from '../../src/guards/allowlist/port.js'
import type { ImportMode, ImportResult } from '../../src/guards/allowlist/types.js'

export const LEASE_MS = 60_000

export interface SmallImport {
  mode: ImportMode
  importId: string
  clock?: Clock
}

/** Imports these customers from a text body, in small steps. */
export function importInSteps(
  engine: Pick<AllowlistEngine, 'bulk' | 'members'>,
  listId: string,
  ids: readonly string[],
  { mode, importId, clock = new ManualClock(NOW) }: SmallImport,
  limits: NonNullable<ImportJob['limits']>,
): Promise<ImportResult> {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${ids.join('\n')}\n`)
  }
  return runImport({
    bulk: engine.bulk,
    members: engine.members,
    listId,
    body: body(),
    options: { mode, importId, format: 'text' },
    clock,
    spillDir: join(tmpdir(), `catraca-spill-${process.pid}`),
    leaseMs: LEASE_MS,
    limits,
  })
}

export async function holdsExactly(
  engine: AllowlistEngine,
  listId: string,
  ids: readonly string[],
): Promise<void> {
  const members = await allMembers(engine, listId, 1000)
  assert.equal(new Set(members).size, members.length, 'nobody twice')
  assert.deepEqual(members.toSorted(), ids.toSorted())
  assert.equal(await countOf(engine, listId), ids.length)
}
