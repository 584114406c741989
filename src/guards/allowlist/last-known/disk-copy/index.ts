import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readChecked, writeChecked } from '../../../../core/checked-file.js'
import type { Clock } from '../../../../core/clock.js'
import { every } from '../../../../core/timers.js'
import type { Indexes } from '../../membership/indexes.js'
import type { ListIndex } from '../../membership/list-index.js'
import { pageBytes } from '../../membership/page.js'
import type { RememberedLists } from '../remembered-lists.js'
import { type CopiedImage, type CopiedState, pageFile, statePath } from './state.js'

const SAVE_EVERY_MS = 30_000
/** Another process with the same directory may be about to name a file. */
const UNNAMED_FOR_MS = 60_000

interface DiskCopyParts {
  directory: string
  maxBytes: number
  /** Where the lists are from, without credentials. */
  store: string
  lists: RememberedLists
  indexes: Indexes
  clock: Clock
  report(message: string, error: unknown): void
}

/**
 * Keeps what memory last knew in a directory, so that a process can start while its store is away. Workers of
 * one server share the directory: each file is written as a whole, and named by what it holds.
 */
export class DiskCopy {
  private readonly timer: NodeJS.Timeout
  private saving: Promise<void> | undefined
  private hasReportedSize = false
  private hasFailed = false
  /** Changes are encoded again only when there are new ones. */
  private readonly encoded = new WeakMap<ListIndex, { changes: number; file: string; sizeBytes: number }>()

  constructor(private readonly parts: DiskCopyParts) {
    mkdirSync(parts.directory, { recursive: true, mode: 0o700 })
    this.timer = every(() => this.save(), SAVE_EVERY_MS)
    this.timer.unref()
  }

  /** Never rejects: a full disk must not hurt whoever answers from memory. */
  save(): Promise<void> {
    this.saving ??= this.write()
      .then(
        () => {
          this.hasFailed = false
        },
        (error: unknown) => {
          if (!this.hasFailed) this.parts.report('what memory knows could not be copied to disk', error)
          this.hasFailed = true
        },
      )
      .finally(() => {
        this.saving = undefined
      })
    return this.saving
  }

  /** Brings back what a copy holds. An image that is damaged or incomplete is left out. */
  async restore({ lists, images }: CopiedState): Promise<void> {
    const { directory, indexes, clock, report } = this.parts
    const ageMs = (knownAt: number) => Math.max(0, clock.now() - knownAt)
    for (const { list, knownAt } of lists) this.parts.lists.restore(list, performance.now() - ageMs(knownAt))
    for (const { list, manifest, position, generation, knownAt, changes } of images) {
      try {
        const entry = changes === '' ? undefined : await readChecked(join(directory, changes))
        if (changes !== '' && entry === undefined) throw new Error(`${changes} is missing`)
        const checksums = new Map(manifest.pages.map(({ name, checksum }) => [name, checksum]))
        const page = (_: unknown, name: string) =>
          readChecked(join(directory, pageFile(list, name, checksums.get(name)!)))
        await indexes.restore(list, manifest, page, {
          ...{ position, generation, changes: entry },
          freshAtMs: performance.now() - ageMs(knownAt),
        })
      } catch (error) {
        report(`the copy of ${list.id} on disk is not used`, error)
      }
    }
  }

  private async write(): Promise<void> {
    const { directory, lists, indexes, store, clock } = this.parts
    const known = lists.all()
    const images = indexes.images()
    if (known.length === 0 && images.length === 0) return
    const state: CopiedState = {
      ...{ format: 1, store, savedAt: clock.now(), images: [] },
      lists: known.map(({ list, knownAtMs }) => ({ list, knownAt: this.epochOf(knownAtMs) })),
    }
    const named = new Set<string>()
    let sizeBytes = 0
    for (const index of images) {
      const copied = await this.copy(index, this.parts.maxBytes - sizeBytes, named)
      if (copied === undefined) continue
      state.images.push(copied.image)
      sizeBytes += copied.sizeBytes
    }
    await writeChecked(statePath(directory), Buffer.from(JSON.stringify(state)))
    await this.removeUnnamed(named)
  }

  /** Undefined: it does not fit, or nothing is known of its age. */
  private async copy(index: ListIndex, room: number, named: Set<string>) {
    const { list, manifest, loaded, freshAtMs } = index
    // All that belongs together is taken at one moment: changes arrive while files are written.
    const position = index.position.map((log) => ({ ...log }))
    const { generation } = index
    const known = this.encoded.get(index)
    const bytes = known?.changes === index.changes ? undefined : index.changesSinceSnapshot()
    const changes = bytes === undefined ? known!.file : changesFile(index, bytes)
    const { changes: count } = index
    const sizeBytes = manifest.sizeBytes + (bytes?.length ?? known!.sizeBytes)
    if (!Number.isFinite(freshAtMs)) return undefined
    if (sizeBytes > room) {
      const message = `${list.id} is not copied to disk: the copy would be larger than lastKnown.maxDiskBytes`
      if (!this.hasReportedSize) this.parts.report(message, undefined)
      this.hasReportedSize = true
      return undefined
    }
    for (const { name, checksum } of manifest.pages) {
      const file = pageFile(list, name, checksum)
      named.add(file)
      if (!(await this.has(file))) await this.put(file, pageBytes(loaded.pages.get(name)!))
    }
    if (changes !== '') {
      named.add(changes)
      if (!(await this.has(changes))) await this.put(changes, bytes ?? index.changesSinceSnapshot())
    }
    this.encoded.set(index, { changes: count, file: changes, sizeBytes: sizeBytes - manifest.sizeBytes })
    const knownAt = this.epochOf(freshAtMs)
    const image: CopiedImage = { list, manifest, position, generation, knownAt, changes }
    return { image, sizeBytes }
  }

  private put(file: string, bytes: Uint8Array): Promise<void> {
    return writeChecked(join(this.parts.directory, file), bytes)
  }

  private has(file: string): Promise<boolean> {
    return stat(join(this.parts.directory, file)).then(
      () => true,
      () => false,
    )
  }

  private async removeUnnamed(named: ReadonlySet<string>): Promise<void> {
    const { directory } = this.parts
    for (const file of await readdir(directory)) {
      if (named.has(file) || !/^(page|changes)-|\.draft$/.test(file)) continue
      const path = join(directory, file)
      const facts = await stat(path).catch(() => undefined)
      if (facts !== undefined && Date.now() - facts.mtimeMs > UNNAMED_FOR_MS) await rm(path, { force: true })
    }
  }

  private epochOf(monotonicMs: number): number {
    return Math.round(this.parts.clock.now() - (performance.now() - monotonicMs))
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.saving
    await this.save()
  }
}

function changesFile({ list }: ListIndex, bytes: Uint8Array): string {
  if (bytes.length === 0) return ''
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32)
  return `changes-${list.incarnation}-${digest}`
}
