import { invalid } from '../../core/errors.js'
import type { Caches } from '../../guards/cache/index.js'
import type { CacheSpace } from '../../guards/cache/space.js'
import { cnpj, cpf } from './pix-key.js'
import { DICT_TTL_MS, type DictOptions, dictSpace } from './spaces.js'

/** The owner of the counted keys. */
export type KeyOwner = { cpf: string } | { cnpj: string }

/** The number of keys of a person or company, under `key_count:cpf:{cpf}` and `key_count:cnpj:{cnpj}`. */
export class DictKeyCounts {
  private readonly counts: CacheSpace<number>

  constructor(cache: Caches, options: DictOptions) {
    this.counts = dictSpace(cache, 'key_count', DICT_TTL_MS.keyCount, options)
  }

  async get(owner: KeyOwner, load: () => Promise<number>): Promise<number | undefined> {
    return this.counts.getOrLoad(ownerKey(owner), load)
  }

  /** Call it after a key was created or deleted. */
  async forget(owner: KeyOwner): Promise<void> {
    await this.counts.delete(ownerKey(owner))
  }

  stats() {
    return this.counts.stats()
  }
}

function ownerKey(owner: KeyOwner): string {
  if ('cpf' in owner) return `cpf:${cpf(owner.cpf, 'cpf')}`
  if ('cnpj' in owner) return `cnpj:${cnpj(owner.cnpj, 'cnpj')}`
  throw invalid('owner', 'must have a cpf or a cnpj')
}
