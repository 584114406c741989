import { identifier } from '../../core/identifiers.js'
import type { Caches } from '../../guards/cache/index.js'
import type { CacheSpace } from '../../guards/cache/space.js'
import type { Load } from '../../guards/cache/types.js'
import { keyName, type PixKey, pixKey } from './pix-key.js'
import { DICT_TTL_MS, type DictOptions, dictSpace } from './spaces.js'
import type { DictEntry, Write } from './types.js'

/** Entries, under `dict:entry:id:{id}` and under `dict:entry:key:{type}:{value}`. */
export class DictEntries<E extends DictEntry> {
  private readonly byIds: CacheSpace<E>
  private readonly byKeys: CacheSpace<E>

  constructor(cache: Caches, options: DictOptions) {
    this.byIds = dictSpace(cache, 'dict:entry:id', DICT_TTL_MS.entry, options)
    this.byKeys = dictSpace(cache, 'dict:entry:key', DICT_TTL_MS.entry, options)
  }

  async byId(id: string, load: Load<E>): Promise<E | undefined> {
    return this.byIds.getOrLoad(identifier('id', id), load)
  }

  /** `load` gets the key in its stored spelling. */
  async byKey(key: PixKey, load: (key: PixKey) => ReturnType<Load<E>>): Promise<E | undefined> {
    const wanted = pixKey(key)
    return this.byKeys.getOrLoad(keyName(wanted), () => load(wanted))
  }

  /**
   * Write-through: the source first, then both names. A fill that read the source earlier stores nothing. The key
   * of an entry never changes: another key means another entry.
   */
  async save(entry: E, write: Write): Promise<void> {
    const { id, key } = namesOf(entry)
    await this.byIds.save(id, entry, () => this.byKeys.save(key, entry, write))
  }

  /** Deletes it in the source, then under both names. */
  async delete(entry: Pick<E, 'id' | keyof PixKey>, write: Write): Promise<void> {
    await this.invalidateAfter(entry, write)
  }

  /** Changes its status in the source. Both names are loaded again. */
  async changeStatus(entry: Pick<E, 'id' | keyof PixKey>, write: Write): Promise<void> {
    await this.invalidateAfter(entry, write)
  }

  /** For changes made by another program. */
  async invalidate(entry: Pick<E, 'id' | keyof PixKey>): Promise<void> {
    const { id, key } = namesOf(entry)
    await Promise.all([this.byIds.delete(id), this.byKeys.delete(key)])
  }

  private async invalidateAfter(entry: Pick<E, 'id' | keyof PixKey>, write: Write): Promise<void> {
    namesOf(entry)
    try {
      await write()
    } finally {
      // Also after a failure: the write may have succeeded.
      await this.invalidate(entry)
    }
  }

  stats() {
    return { byId: this.byIds.stats(), byKey: this.byKeys.stats() }
  }
}

function namesOf({ id, key_type, key_value }: { id: string } & PixKey): { id: string; key: string } {
  return { id: identifier('id', id), key: keyName(pixKey({ key_type, key_value })) }
}
