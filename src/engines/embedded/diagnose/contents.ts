import { type Check, type CheckResult, ok, problem, skipped, warning } from '../../../core/diagnosis.js'
import type { LeasedImport } from '../../../guards/allowlist/import/stored-import.js'
import type { Manifest } from '../../../guards/allowlist/membership/port.js'
import { listStart, pageKey } from '../allowlist/keys.js'
import type { StoredList } from '../allowlist/meta.js'
import { FORMAT_VERSION } from '../lmdb/environment.js'
import type { SnapshotReader } from '../lmdb/snapshot-reader.js'
import type { EmbeddedFacts } from './context.js'

/** Enough for an overview. A store may have millions of rows. */
const MOST = 10_000
const MOST_INDEXES = 1000

type LookInside = (snapshotReader: SnapshotReader, now: number) => CheckResult

const inside =
  (look: LookInside) =>
  (context: EmbeddedFacts): CheckResult =>
    context.snapshotReader === undefined
      ? skipped('the store is not open')
      : look(context.snapshotReader, context.now())

interface Rows {
  getRange(options: { limit: number }): Iterable<{ value: string | Buffer }>
}

const rowsOf = <Row>(database: Rows | undefined, limit = MOST): Row[] =>
  Array.from(database?.getRange({ limit }) ?? [], ({ value }) => JSON.parse(value.toString()) as Row)

export const formatCheck: Check<EmbeddedFacts> = {
  id: 'embedded.format',
  expects: 'The data file opens, and this version knows its format.',
  remedy: 'Use the version that wrote it, or restore a backup.',
  run: inside((snapshotReader) => {
    const format = snapshotReader.text('settings')?.get('format')
    if (format === undefined) return problem('the file holds no store')
    if (Number(format) > FORMAT_VERSION)
      return problem(`format ${format}; this version reads ${FORMAT_VERSION}`)
    return ok(`it opens, in format ${format}`)
  }),
}

export const importCheck: Check<EmbeddedFacts> = {
  id: 'embedded.imports',
  expects: 'No import was interrupted.',
  remedy: 'Resume it with the same file and `--import-id`. Otherwise it is removed after some days.',
  run: inside((snapshotReader, now) => {
    const records = rowsOf<LeasedImport>(snapshotReader.binary('imports'))
    const running = records.filter(({ state }) => state === 'running')
    const dead = running.filter(({ leaseUntil }) => leaseUntil <= now)
    if (dead.length > 0) return warning(`${dead.length} interrupted`)
    return ok(running.length === 0 ? 'none is running' : `${running.length} under way`)
  }),
}

export const buildCheck: Check<EmbeddedFacts> = {
  id: 'embedded.builds',
  expects: 'No build of an index died.',
  remedy: 'Nothing, while a server runs: it removes dead builds. Otherwise start a server.',
  run: inside((snapshotReader, now) => {
    const claims = rowsOf<{ until: number }>(snapshotReader.numbered('builds'))
    const dead = claims.filter(({ until }) => until <= now).length
    if (dead > 0) return warning(`${dead} died half-way`)
    return ok(claims.length === 0 ? 'none is running' : `${claims.length} under way`)
  }),
}

export const rowCheck: Check<EmbeddedFacts> = {
  id: 'embedded.rows',
  expects: 'Every row of a member belongs to a list, or is about to be removed.',
  remedy:
    'A running server removes such rows. Rows without a list only take space: to free it, export, and import into a new directory.',
  run: inside((snapshotReader) => {
    const numbers = snapshotReader.numbered('numbers')
    const sweeps = rowsOf<{ no: number }>(snapshotReader.text('sweeps'))
    const due = new Set(sweeps.map(({ no }) => no))
    const stored = listNumbers(snapshotReader)
    const lost = stored.filter((no) => numbers?.get(listStart(no)) === undefined && !due.has(no))
    if (lost.length > 0) return warning(`${lost.length} deleted lists have left rows behind`)
    return ok(`${stored.length} lists have members; ${due.size} are being removed`)
  }),
}

/** The lists that have rows: jumps from the first row of one list to the first row of the next. */
function listNumbers(snapshotReader: SnapshotReader): number[] {
  const members = snapshotReader.binary('members')
  const found: number[] = []
  for (let next = 0; members !== undefined && found.length < MOST; ) {
    const [key] = members.getKeys({ start: listStart(next), limit: 1 })
    if (key === undefined) break
    const no = Buffer.from(key.buffer, key.byteOffset, 4).readUInt32BE(0)
    found.push(no)
    if (no === 0xffffffff) break
    next = no + 1
  }
  return found
}

export const indexCheck: Check<EmbeddedFacts> = {
  id: 'embedded.indexes',
  expects: 'Every index is complete and has the current format.',
  remedy: 'Rebuild it: `catraca index build --all`. Until then checks of these lists read the store.',
  run: inside((snapshotReader) => {
    const lists = rowsOf<StoredList>(snapshotReader.text('lists'), MOST_INDEXES)
    const manifests = lists.flatMap(({ no }) => {
      const text = snapshotReader.numbered('manifests')?.get(listStart(no))
      return text === undefined ? [] : [{ no, manifest: JSON.parse(text) as Manifest }]
    })
    const pages = snapshotReader.binary('pages')
    const isWhole = ({ no, manifest }: (typeof manifests)[number]): boolean =>
      manifest.pages.every(({ name }) => pages?.doesExist(pageKey(no, name)))
    const old = manifests.filter(({ manifest }) => manifest.format !== 2)
    const broken = manifests.filter((one) => one.manifest.format === 2 && !isWhole(one))
    if (broken.length > 0) return problem(`${broken.length} lack pages`)
    if (old.length > 0) return warning(`${old.length} have an earlier format`)
    return ok(`${manifests.length} of ${lists.length} lists have one`)
  }),
}
