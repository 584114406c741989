import { invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { ApiKey } from '../../guards/access/index.js'
import type { KeysApi } from '../commands/support/target.js'
import type { HttpTransport } from './transport.js'

/** The API keys of a server. */
export class HttpKeys implements KeysApi {
  constructor(private readonly http: HttpTransport) {}

  create(input: { name: string; scopes: string[] }): Promise<ApiKey & { key: string }> {
    return this.http.json('POST', '/keys', { body: input })
  }

  async list(): Promise<ApiKey[]> {
    return (await this.http.json<{ items: ApiKey[] }>('GET', '/keys')).items
  }

  /** A locked server accepts no call, so there is no route for this. */
  async unlock(): Promise<void> {
    throw invalid('--store', 'is needed: a server cannot be unlocked over HTTP')
  }

  async revoke(name: string): Promise<void> {
    await this.http.json('DELETE', `/keys/${encodeURIComponent(identifier('name', name))}`)
  }
}
