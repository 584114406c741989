import type { ListRef } from '../changes/port.js'
import { hashKey } from './hash.js'
import { type FilterPage, readPage } from './page.js'
import type { IndexStore, Manifest, ManifestPage } from './port.js'
import { Snapshot } from './snapshot.js'

/** Pages read before the event loop gets a turn: some milliseconds. */
const PAGES_PER_TURN = 8

/** A page differs from its manifest. It is never used, and the list is built again. */
export class CorruptIndex extends Error {
  override readonly name = 'CorruptIndex'
}

/** A snapshot with its pages by name, which the next snapshot may share. */
export interface LoadedSnapshot {
  snapshot: Snapshot
  pages: ReadonlyMap<string, FilterPage>
}

/** Reads the snapshot of a manifest and verifies every page. Pages that `previous` also has are shared. */
export async function loadSnapshot(
  store: Pick<IndexStore, 'page'>,
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
  store: Pick<IndexStore, 'page'>,
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
