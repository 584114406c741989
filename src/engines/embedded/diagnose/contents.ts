import { type Check, ok, problem, skipped, type CheckResult, warning } from '../../../core/diagnosis.js'
import type { Manifest } from '../../../guards/allowlist/membership/port.js'
import type { StoredList } from '../allowlist/catalog.js'
import type { StoredImport } from '../allowlist/imports.js'
import { listStart, pageKey } from '../allowlist/keys.js'
import { FORMAT_VERSION } from '../lmdb/environment.js'
import type { SnapshotReader } from '../lmdb/snapshot-reader.js'
import type { EmbeddedFacts } from './context.js'

/** Enough for a picture; a store may have millions. */
const MOST = 10_000
const MOST_INDEXES = 1000

type LookInside = (looker: SnapshotReader, now: number) => CheckResult

const inside =
  (look: LookInside) =>
  (context: EmbeddedFacts): CheckResult =>
    context.looker === undefined ? skipped('the store is not open') : look(context.looker, context.now())

export const formatCheck: Check<EmbeddedFacts> = {
  id: 'embedded.format',
  wants: 'The data file opens, and this version knows its format.',
  remedy: 'Use the version that wrote it, or restore a backup.',
  look: inside((looker) => {
    const format = looker.text('settings')?.get('format')
    if (format === undefined) return problem('the file holds no store')
    if (Number(format) > FORMAT_VERSION)
      return problem(`format ${format}; this version reads ${FORMAT_VERSION}`)
    return ok(`it opens, in format ${format}`)
  }),
}

export const importCheck: Check<EmbeddedFacts> = {
  id: 'embedded.imports',
  wants: 'No import was interrupted.',
  remedy: 'Resume it: the same file and `--import-id`. Otherwise it is swept after some days.',
  look: inside((looker, now) => {
    const records = Array.from(looker.binary('imports')?.getRange({ limit: MOST }) ?? [], ({ value }) => {
      return JSON.parse(value.toString()) as StoredImport
    })
    const running = records.filter(({ state }) => state === 'running')
    const dead = running.filter(({ leaseUntil }) => leaseUntil <= now)
    if (dead.length > 0) return warning(`${dead.length} interrupted`)
    return ok(running.length === 0 ? 'none is under way' : `${running.length} under way`)
  }),
}

export const buildCheck: Check<EmbeddedFacts> = {
  id: 'embedded.builds',
  wants: 'No build of an index died.',
  remedy: 'Nothing, while a server runs: it sweeps dead builds. Otherwise start one.',
  look: inside((looker, now) => {
    const claims = Array.from(looker.numbered('builds')?.getRange({ limit: MOST }) ?? [], ({ value }) => {
      return JSON.parse(value) as { until: number }
    })
    const dead = claims.filter(({ until }) => until <= now).length
    if (dead > 0) return warning(`${dead} died half-way`)
    return ok(claims.length === 0 ? 'none is under way' : `${claims.length} under way`)
  }),
}

export const rowCheck: Check<EmbeddedFacts> = {
  id: 'embedded.rows',
  wants: 'Every row of a member belongs to a list, or is about to be swept.',
  remedy:
    'Rows to be swept go while a server runs. Rows of no list only take room: export, and import into a new directory.',
  look: inside((looker) => {
    const numbers = looker.numbered('numbers')
    const sweeps = Array.from(looker.text('sweeps')?.getRange({ limit: MOST }) ?? [], ({ value }) => {
      return JSON.parse(value) as { no: number }
    })
    const due = new Set(sweeps.map(({ no }) => no))
    const stored = listNumbers(looker)
    const lost = stored.filter((no) => numbers?.get(listStart(no)) === undefined && !due.has(no))
    if (lost.length > 0) return warning(`${lost.length} lists that are gone have left rows behind`)
    return ok(`${stored.length} lists have members; ${due.size} are being swept`)
  }),
}

/** The lists that have rows, by jumping from the first row of one to the first of the next. */
function listNumbers(looker: SnapshotReader): number[] {
  const members = looker.binary('members')
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
  wants: 'Every index is whole and of the present format.',
  remedy: 'Build it anew: `catraca index build --all`. Until then these lists are checked in the store.',
  look: inside((looker) => {
    const lists = Array.from(looker.text('lists')?.getRange({ limit: MOST_INDEXES }) ?? [], ({ value }) => {
      return JSON.parse(value) as StoredList
    })
    const manifests = lists.flatMap(({ no }) => {
      const text = looker.numbered('manifests')?.get(listStart(no))
      return text === undefined ? [] : [{ no, manifest: JSON.parse(text) as Manifest }]
    })
    const pages = looker.binary('pages')
    const isWhole = ({ no, manifest }: (typeof manifests)[number]): boolean =>
      manifest.pages.every(({ name }) => pages?.doesExist(pageKey(no, name)))
    const old = manifests.filter(({ manifest }) => manifest.format !== 2)
    const broken = manifests.filter((one) => one.manifest.format === 2 && !isWhole(one))
    if (broken.length > 0) return problem(`${broken.length} lack pages`)
    if (old.length > 0) return warning(`${old.length} are of an earlier format`)
    return ok(`${manifests.length} of ${lists.length} lists have one`)
  }),
}
