import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Check,
  type CheckResult,
  type Diagnosis,
  type Finding,
  ok,
  problem,
  reasonOf,
  runChecks,
} from '../../../core/diagnosis.js'
import { keysFound, storedKeys } from '../../../guards/access/lock-mark.js'
import type { KeyRecord } from '../../../guards/access/port.js'
import { DEFAULT_EMBEDDED } from '../defaults.js'
import { SnapshotReader } from '../lmdb/snapshot-reader.js'
import { mainDirectory, refuseOlderLayout } from '../lmdb/store-directory.js'
import type { EmbeddedOptions } from '../options.js'
import { buildCheck, formatCheck, importCheck, indexCheck, rowCheck } from './contents.js'
import type { EmbeddedFacts } from './context.js'
import {
  directoryCheck,
  durabilityCheck,
  fileSystemCheck,
  processCheck,
  rightsCheck,
  secretCheck,
  spaceCheck,
} from './files.js'

/** Runs first: the other checks need to know whether the store opens. */
const openCheck: Check<CheckResult> = {
  id: 'embedded.open',
  expects: 'The data file is complete and opens.',
  remedy: 'Correct its permissions, or restore a backup: docs/guides/backup-and-recovery.md.',
  run: (verdict) => verdict,
}

const CHECKS: readonly Check<EmbeddedFacts>[] = [
  directoryCheck,
  fileSystemCheck,
  spaceCheck,
  durabilityCheck,
  formatCheck,
  processCheck,
  rightsCheck,
  secretCheck,
  importCheck,
  buildCheck,
  rowCheck,
  indexCheck,
]

export const EMBEDDED_CHECKS: readonly Check<never>[] = [openCheck, ...CHECKS]

/** Read-only: a missing directory is not created. */
export async function diagnoseEmbedded(
  options: EmbeddedOptions & { directory: string },
  where: string,
  now: () => number = Date.now,
): Promise<Diagnosis> {
  const { directory, durability, minFreeBytes, maxSizeBytes } = { ...DEFAULT_EMBEDDED, ...options }
  const { snapshotReader, verdict } = look(directory)
  try {
    const context = { directory, durability, minFreeBytes, maxSizeBytes, now, snapshotReader }
    const opened: Finding[] = await runChecks([openCheck], verdict, { where })
    const findings = [...opened, ...(await runChecks(CHECKS, context, { where }))]
    const rows = snapshotReader?.text('api-keys')?.getRange({}) ?? []
    const keys = storedKeys(Array.from(rows, ({ value }) => JSON.parse(value) as KeyRecord))
    return { findings, apiKeys: keysFound(keys) }
  } finally {
    await snapshotReader?.close()
  }
}

function look(directory: string): { snapshotReader: SnapshotReader | undefined; verdict: CheckResult } {
  const main = mainDirectory(directory)
  try {
    refuseOlderLayout(directory)
    if (!existsSync(join(main, 'data.mdb')))
      return { snapshotReader: undefined, verdict: ok('there is no data yet') }
    return { snapshotReader: SnapshotReader.open(main), verdict: ok('it opens') }
  } catch (error) {
    return { snapshotReader: undefined, verdict: problem(reasonOf(error)) }
  }
}
