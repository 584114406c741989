import type { ListRef } from '../changes/port.js'
import { hashKey } from './hash.js'
import { type FilterPage, readPage } from './page.js'
import type { IndexStore, Manifest, ManifestPage } from './port.js'
import { Snapshot } from './snapshot.js'

/** Pages read before others get a turn of the thread: some milliseconds. */
const PAGES_PER_TURN = 8

/** A page is not what the manifest says it is. It never answers; the list is built anew. */
export class CorruptIndex extends Error {
  override readonly name = 'CorruptIndex'
}

/** A snapshot with its pages by name, which the next snapshot may have too. */
export interface LoadedSnapshot {
  snapshot: Snapshot
  pages: ReadonlyMap<string, FilterPage>
}

/** Reads the snapshot that a manifest names, checking every bit; pages that `previous` has too are shared. */
export async function loadSnapshot(
  store: IndexStore,
  list: ListRef,
  manifest: Manifest,
  previous: LoadedSnapshot | undefined,
): Promise<LoadedSnapshot> {
  const pages = new Map<string, FilterPage>()
  for (const [i, page] of manifest.pages.entries()) {
    if (i % PAGES_PER_TURN === PAGES_PER_TURN - 1) await new Promise((resolve) => setImmediate(resolve))
    const known = previous?.pages.get(page.name)
    const isSame = known !== undefined && known.checksum === page.checksum
    pages.set(page.name, isSame ? known : await loadPage(store, list, page))
  }
  const reading = Snapshot.of([...pages.values()])
  if (!reading.ok) throw new CorruptIndex(reading.fault)
  return { snapshot: reading.value, pages }
}

async function loadPage(
  store: IndexStore,
  list: ListRef,
  { name, checksum }: ManifestPage,
): Promise<FilterPage> {
  const bytes = await store.page(list, name)
  if (bytes === undefined) throw new CorruptIndex(`page ${name} is missing`)
  const reading = readPage(bytes)
  if (!reading.ok) throw new CorruptIndex(`page ${name}: ${reading.fault}`)
  if (reading.value.checksum !== checksum)
    throw new CorruptIndex(`page ${name} is not the one that was built`)
  return reading.value
}

export const manifestKey = (manifest: Manifest) => hashKey(Buffer.from(manifest.key, 'hex'))
