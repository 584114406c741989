import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import type { IndexStore, KeyBlock, Manifest } from '../../../guards/allowlist/membership/port.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import { listEnd, listStart, pageKey } from './keys.js'
import { visibleBytes } from './rows.js'

const SCAN_ROWS = 10_000
/** Use counts are halved when one gets this high, so that old use counts less. */
const MAX_USES = 1e9

interface Claim {
  owner: string
  until: number
}

export class EmbeddedIndexStore implements IndexStore {
  constructor(
    private readonly environment: Environment,
    private readonly catalog: Catalog,
  ) {}

  manifest({ incarnation: no }: ListRef): Manifest | undefined {
    this.environment.refresh()
    const text = this.environment.manifests.get(listStart(no))
    const manifest = text === undefined ? undefined : (JSON.parse(text) as Manifest)
    // A manifest of an earlier format is ignored, and the index is built again.
    return manifest?.format === 2 ? manifest : undefined
  }

  version(list: ListRef): string | undefined {
    return this.manifest(list)?.version
  }

  page({ incarnation: no }: ListRef, name: string): Uint8Array | undefined {
    return this.environment.pages.getBinary(pageKey(no, name))
  }

  claim({ incarnation: no }: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean> {
    return this.environment.write(() => {
      if (this.catalog.readNumber(no) === undefined || this.liveClaim(no, now) !== undefined) return false
      // Pages of a dead builder must not be mixed with those of this build.
      this.endClaim(no)
      this.storeClaim(no, { owner, until: now + leaseMs })
      return true
    })
  }

  renew({ incarnation: no }: ListRef, owner: string, leaseMs: number, now: number): Promise<boolean> {
    return this.environment.write(() => {
      if (!this.isBuilder(no, owner)) return false
      this.storeClaim(no, { owner, until: now + leaseMs })
      return true
    })
  }

  private storeClaim(no: number, claim: Claim): void {
    this.environment.builds.putSync(listStart(no), JSON.stringify(claim))
  }

  private isBuilder(no: number, owner: string): boolean {
    return this.readClaim(no)?.owner === owner && this.catalog.readNumber(no) !== undefined
  }

  builder({ incarnation: no }: ListRef, now: number): string | undefined {
    this.environment.refresh()
    return this.liveClaim(no, now)?.owner
  }

  liveClaim(no: number, now: number): Claim | undefined {
    const claim = this.readClaim(no)
    return claim !== undefined && claim.until > now ? claim : undefined
  }

  private readClaim(no: number): Claim | undefined {
    const text = this.environment.builds.get(listStart(no))
    return text === undefined ? undefined : (JSON.parse(text) as Claim)
  }

  putPage({ incarnation: no }: ListRef, owner: string, name: string, bytes: Uint8Array): Promise<boolean> {
    return this.environment.write(() => {
      if (!this.isBuilder(no, owner)) return false
      this.environment.pages.putSync(pageKey(no, name), bytes as Buffer)
      return true
    })
  }

  publish({ incarnation: no }: ListRef, owner: string, manifest: Manifest): Promise<boolean> {
    return this.environment.write(() => {
      if (!this.isBuilder(no, owner)) return false
      const { pages } = this.environment
      if (!manifest.pages.every(({ name }) => pages.getBinaryFast(pageKey(no, name)) !== undefined))
        return false
      this.environment.manifests.putSync(listStart(no), JSON.stringify(manifest))
      this.environment.builds.removeSync(listStart(no))
      this.dropPages(no, new Set(manifest.pages.map((page) => page.name)))
      this.environment.bumpPulse()
      return true
    })
  }

  async abandon({ incarnation: no }: ListRef, owner: string): Promise<void> {
    await this.environment.free(() => {
      if (this.readClaim(no)?.owner === owner) this.endClaim(no)
    })
  }

  /** In a write transaction: ends a claim and deletes the pages that only its build wrote. */
  endClaim(no: number): void {
    const text = this.environment.manifests.get(listStart(no))
    const named = text === undefined ? [] : (JSON.parse(text) as Manifest).pages
    this.environment.builds.removeSync(listStart(no))
    this.dropPages(no, new Set(named.map((page) => page.name)))
  }

  /** In a write transaction. */
  dropPages(no: number, except: ReadonlySet<string>): void {
    const { pages } = this.environment
    const keys = Array.from(pages.getKeys({ start: listStart(no), end: listEnd(no) }))
    for (const key of keys) {
      if (!except.has(Buffer.from(key.buffer, key.byteOffset + 4, key.length - 4).toString('latin1')))
        pages.removeSync(key)
    }
  }

  async *scan({ incarnation: no }: ListRef): AsyncGenerator<KeyBlock> {
    let start: Uint8Array | undefined = listStart(no)
    while (start !== undefined) {
      // A new snapshot each time: a long one would prevent LMDB from reusing freed pages.
      this.environment.refresh()
      const { block, next } = this.scanBlock(no, start)
      if (block.count > 0) yield block
      start = next
    }
  }

  private scanBlock(no: number, start: Uint8Array): { block: KeyBlock; next: Uint8Array | undefined } {
    const generation = this.catalog.readNumber(no)?.stored.generation
    const block: KeyBlock = {
      bytes: new Uint8Array(SCAN_ROWS * 40),
      ends: new Uint32Array(SCAN_ROWS),
      count: 0,
    }
    if (generation === undefined) return { block, next: undefined }
    let end = 0
    let rows = 0
    let last: Uint8Array | undefined
    for (const { key, value } of this.environment.members.getRange({
      start,
      end: listEnd(no),
      limit: SCAN_ROWS,
    })) {
      rows++
      last = key as Uint8Array
      if (!visibleBytes(value, generation)) continue
      if (end + last.length > block.bytes.length) block.bytes = grown(block.bytes)
      block.bytes.set(last.subarray(4), end)
      end += last.length - 4
      block.ends[block.count++] = end
    }
    return { block, next: rows < SCAN_ROWS ? undefined : Uint8Array.from([...last!, 0]) }
  }

  async countUses(uses: ReadonlyMap<string, number>): Promise<void> {
    await this.environment.write(() => {
      for (const [id, count] of uses) {
        const sum = Number(this.environment.uses.get(id) ?? 0) + count
        if (this.catalog.read(id) !== undefined) {
          this.environment.uses.putSync(id, String(sum > MAX_USES ? Math.round(sum / 2) : sum))
        }
      }
    })
  }

  async mostUsed(limit: number): Promise<string[]> {
    const counted = Array.from(this.environment.uses.getRange({}), ({ key, value }) => ({
      key,
      count: Number(value),
    }))
    return counted
      .sort((a, b) => b.count - a.count)
      .slice(0, limit)
      .map(({ key }) => key)
  }
}

function grown(bytes: Uint8Array): Uint8Array {
  const larger = new Uint8Array(2 * bytes.length)
  larger.set(bytes)
  return larger
}
