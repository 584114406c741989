import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../core/clock.js'
import { CatracaError } from '../../../core/errors.js'
import { isReset, readEntry } from '../changes/entry.js'
import { type ChangeFeed, type LogPosition, type Position, samePosition } from '../changes/port.js'
import type { CheckedList } from '../port.js'
import { type PageRange, rangeName, topBits } from './directory.js'
import { CustomerProbe, HASH_KEY_BYTES, type HashKey, hashKey } from './hash.js'
import { IndexBuilder } from './index-builder.js'
import { PagePool } from './page-pool.js'
import type { IndexStore, Manifest, ManifestPage } from './port.js'

export interface BuildOptions {
  index: IndexStore
  changes: ChangeFeed
  list: Pick<CheckedList, 'id' | 'incarnation' | 'precision'>
  /** Builds every page, also unchanged ones. */
  full?: boolean
  threads?: number
  splitAbove?: number
  leaseMs: number
  clock: Clock
  signal?: AbortSignal
}

export type BuildOutcome =
  | { outcome: 'built'; manifest: Manifest }
  | { outcome: 'busy' | 'gone' | 'unchanged' }

/**
 * Builds the snapshot of a list from its members. The log position is read first: a change during the scan may or
 * may not be in the pages, and is replayed from the log in both cases.
 */
export async function buildIndex(options: BuildOptions): Promise<BuildOutcome> {
  const { index, list, leaseMs, clock } = options
  const owner = randomBytes(9).toString('base64url')
  if (!(await index.claim(list, owner, leaseMs, clock.now()))) return { outcome: 'busy' }
  try {
    return await new Build(options, owner).run()
  } catch (error) {
    await index.abandon(list, owner).catch(() => {})
    throw error
  }
}

class Build {
  private readonly startedAt: number
  private renewAt: number

  constructor(
    private readonly options: BuildOptions,
    private readonly owner: string,
  ) {
    this.startedAt = options.clock.now()
    this.renewAt = this.startedAt + options.leaseMs / 3
  }

  async run(): Promise<BuildOutcome> {
    const { index, changes, list, full } = this.options
    const position = await changes.position(list)
    if (position === undefined) return this.giveUp('gone')
    const previous = await index.manifest(list)
    const fingerprintBits = list.precision === 'trusted' ? 32 : 16
    const fitting = previous?.fingerprintBits === fingerprintBits ? previous : undefined
    const key = fitting?.key ?? randomBytes(HASH_KEY_BYTES).toString('hex')
    const dirty =
      fitting === undefined || full
        ? undefined
        : await this.dirtyRanges(fitting, hashKey(Buffer.from(key, 'hex')))
    if (fitting !== undefined && dirty?.length === 0 && samePosition(fitting.position, position))
      return this.giveUp('unchanged')
    const pages = await this.makePages(key, fingerprintBits, dirty)
    const kept = dirty === undefined ? [] : fitting!.pages.filter((page) => !dirty.includes(page.range))
    return this.publish(position, key, fingerprintBits, pages, kept)
  }

  private async giveUp(outcome: 'gone' | 'unchanged'): Promise<BuildOutcome> {
    await this.options.index.abandon(this.options.list, this.owner)
    return { outcome }
  }

  /** The pages of the last snapshot that later changes affect. Undefined if the log does not contain all changes. */
  private async dirtyRanges(manifest: Manifest, key: HashKey): Promise<PageRange[] | undefined> {
    const { changes, list } = this.options
    const find = rangeFinder(manifest.pages.map((page) => page.range))
    const dirty = new Set<PageRange>()
    const probe = new CustomerProbe()
    const touch = (bytes: Uint8Array, start: number, end: number): void => {
      probe.setKey(bytes, start, end)
      probe.hash(key)
      dirty.add(find(probe.hi))
    }
    const after: LogPosition[] = [...manifest.position]
    for (;;) {
      const part = await changes.read(list, after)
      if (part === 'gap') return undefined
      for (const { log, sequence, mark, bytes } of part.entries) {
        if (isReset(bytes)) return undefined
        readEntry(bytes, { added: touch, removed: touch })
        after[log] = { sequence, mark }
      }
      // When every page is affected, the ranges are chosen anew.
      if (!part.more) return dirty.size === manifest.pages.length ? undefined : [...dirty]
    }
  }

  private async makePages(
    key: string,
    fingerprintBits: 16 | 32,
    ranges: PageRange[] | undefined,
  ): Promise<ManifestPage[]> {
    const { index, list, splitAbove, threads = 1 } = this.options
    const builder = new IndexBuilder({
      key: hashKey(Buffer.from(key, 'hex')),
      fingerprintBits,
      ...(ranges && { ranges }),
      ...(splitAbove && { splitAbove }),
    })
    const pool = new PagePool(builder.kind, threads)
    try {
      for await (const { bytes, ends, count } of index.scan(list)) {
        for (let i = 0, start = 0; i < count; start = ends[i++]!) builder.addKey(bytes, start, ends[i]!)
        await this.alive()
      }
      const build = this.startedAt.toString(36) + randomBytes(3).toString('hex')
      const pages: ManifestPage[] = []
      for await (const { range, count, checksum, bytes } of pool.make(builder.buckets())) {
        const name = `${build}.${range.depth}.${range.index}`
        if (!(await index.putPage(list, this.owner, name, bytes))) throw takenOver()
        pages.push({ name, range, count, checksum, sizeBytes: bytes.length })
        await this.alive()
      }
      return pages
    } finally {
      await pool.close()
    }
  }

  /** Renews the claim. Throws when the claim is lost or the caller aborts. */
  private async alive(): Promise<void> {
    const { index, list, leaseMs, clock, signal } = this.options
    signal?.throwIfAborted()
    const now = clock.now()
    if (now < this.renewAt) return
    if (!(await index.renew(list, this.owner, leaseMs, now))) throw takenOver()
    this.renewAt = now + leaseMs / 3
  }

  private async publish(
    position: Position,
    key: string,
    fingerprintBits: 16 | 32,
    made: ManifestPage[],
    kept: ManifestPage[],
  ): Promise<BuildOutcome> {
    const { index, list, clock } = this.options
    const pages = [...made, ...kept]
    const sum = (of: (page: ManifestPage) => number): number =>
      pages.reduce((total, page) => total + of(page), 0)
    const manifest: Manifest = {
      format: 2,
      version: `${this.startedAt.toString(36)}-${this.owner}`,
      incarnation: list.incarnation,
      position,
      fingerprintBits,
      key,
      customers: sum((page) => page.count),
      sizeBytes: sum((page) => page.sizeBytes),
      builtAt: this.startedAt,
      tookMs: clock.now() - this.startedAt,
      rebuiltPages: made.length,
      pages,
    }
    if (!(await index.publish(list, this.owner, manifest))) throw takenOver()
    return { outcome: 'built', manifest }
  }
}

function takenOver(): CatracaError {
  return new CatracaError(
    'ENGINE_UNAVAILABLE',
    'another process took over the build, or the list was deleted',
  )
}

/** Finds the page of a hash, among pages that cover the list. */
function rangeFinder(ranges: PageRange[]): (hi: number) => PageRange {
  const depth = Math.max(...ranges.map((range) => range.depth))
  const table = new Array<PageRange>(2 ** depth)
  for (const range of ranges) {
    const width = 2 ** (depth - range.depth)
    table.fill(range, range.index * width, (range.index + 1) * width)
  }
  return (hi) => {
    const range = table[topBits(hi, depth)]
    if (range === undefined) throw new CatracaError('INTERNAL', `no page beside ${rangeName(ranges[0]!)}`)
    return range
  }
}
