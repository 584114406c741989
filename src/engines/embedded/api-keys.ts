import type { KeyRecord, KeyStore } from '../../access/port.js'
import type { Environment } from './environment.js'

export class EmbeddedKeys implements KeyStore {
  constructor(private readonly environment: Environment) {}

  add(record: KeyRecord): Promise<boolean> {
    const { apiKeys } = this.environment
    return this.environment.write(() => {
      if (apiKeys.get(record.name) !== undefined) return false
      apiKeys.putSync(record.name, JSON.stringify(record))
      return true
    })
  }

  async list(): Promise<KeyRecord[]> {
    this.environment.refresh()
    return Array.from(this.environment.apiKeys.getRange({}), ({ value }) => JSON.parse(value) as KeyRecord)
  }

  remove(name: string): Promise<boolean> {
    return this.environment.write(() => this.environment.apiKeys.removeSync(name))
  }
}
