/** A process that opens the store, works on it and closes it, again and again; it may be stopped or killed meanwhile. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openCatraca } from '../../src/app/open-catraca.js'
import { SnapshotReader } from '../../src/engines/embedded/lmdb/snapshot-reader.js'
import { mainDirectory } from '../../src/engines/embedded/lmdb/store-directory.js'
import { bootName } from '../../src/engines/embedded/rate-limit/directory.js'
import { LIST, memberOf, type OpenRacePlan, openOptions, RESOURCE } from './open-race-plan.js'
import { demand, dieOfFailures } from './proof.js'

export interface OpenerPlan extends OpenRacePlan {
  times: number
  /** It writes at the first of so many opens. */
  writesEvery: number
  kind: 'library' | 'reader'
}

export type OpenerSaid = { type: 'opening' } | { type: 'opened'; member?: string; openMs: number }

dieOfFailures()
const { times, writesEvery, kind, ...plan } = JSON.parse(process.argv[2]!) as OpenerPlan
const opener = `opener${process.pid}`
const say = (message: OpenerSaid): Promise<void> =>
  new Promise((resolve) => process.send!(message, () => resolve()))

async function openAndWrite(n: number): Promise<void> {
  const startedAt = performance.now()
  const catraca = await openCatraca(openOptions(plan))
  const openMs = performance.now() - startedAt
  // To write takes two more threads, and far longer than to open.
  const member = n % writesEvery === 0 ? memberOf(opener, n) : undefined
  if (member !== undefined) {
    await Promise.all([
      catraca.allowlists.add(LIST, member),
      catraca.limits.acquire({ entity: opener, resource: RESOURCE }),
    ])
  }
  await catraca.close()
  await say({ type: 'opened', openMs, ...(member !== undefined && { member }) })
}

async function openAndRead(): Promise<void> {
  const startedAt = performance.now()
  const limits = join(plan.directory, 'limits', bootName())
  const readers = [mainDirectory(plan.directory), limits]
    .filter(existsSync)
    .map((path) => SnapshotReader.open(path))
  const openMs = performance.now() - startedAt
  demand(readers[0]!.text('settings')?.get('format') !== undefined, 'the store has no format')
  for (const reader of readers) await reader.close()
  await say({ type: 'opened', openMs })
}

process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
await say({ type: 'opening' })
for (let n = 0; n < times; n++) await (kind === 'reader' ? openAndRead() : openAndWrite(n))
process.exit(0)
