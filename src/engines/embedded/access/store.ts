import { LIFTED_MARK, LOCKED_MARK, MARK_NAME, storedKeys } from '../../../guards/access/lock-mark.js'
import type { KeyChange, KeyRecord, KeyStore, StoredKeys } from '../../../guards/access/port.js'
import type { Environment } from '../lmdb/environment.js'

export class EmbeddedKeys implements KeyStore {
  constructor(private readonly environment: Environment) {}

  add(record: KeyRecord): Promise<boolean> {
    const { apiKeys } = this.environment
    return this.environment.write(() => {
      if (apiKeys.get(record.name) !== undefined) return false
      this.put(record)
      this.put(LOCKED_MARK)
      return true
    })
  }

  async list(): Promise<StoredKeys> {
    this.environment.refresh()
    return storedKeys(this.rows())
  }

  remove(name: string): Promise<boolean> {
    return this.environment.free(() => {
      if (!this.environment.apiKeys.removeSync(name)) return false
      this.put(LOCKED_MARK)
      return true
    })
  }

  change(name: string, hash: string, { expiresAt, ...fields }: KeyChange): Promise<boolean> {
    return this.environment.write(() => {
      const text = this.environment.apiKeys.get(name)
      const record = text === undefined ? undefined : (JSON.parse(text) as KeyRecord)
      if (record?.hash !== hash) return false
      const changed = { ...record, ...fields }
      if (expiresAt === null) delete changed.expiresAt
      else if (expiresAt !== undefined) changed.expiresAt = expiresAt
      this.put(changed)
      return true
    })
  }

  unlock(): Promise<boolean> {
    return this.environment.free(() => {
      if (this.rows().some(({ name }) => name !== MARK_NAME)) return false
      this.put(LIFTED_MARK)
      return true
    })
  }

  private rows(): KeyRecord[] {
    return Array.from(this.environment.apiKeys.getRange({}), ({ value }) => JSON.parse(value) as KeyRecord)
  }

  private put(record: KeyRecord): void {
    this.environment.apiKeys.putSync(record.name, JSON.stringify(record))
  }
}
