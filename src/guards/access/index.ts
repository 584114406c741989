import { createHash, randomBytes } from 'node:crypto'
import { type Clock, isoTime } from '../../core/clock.js'
import { CatracaError, invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { KeyRecord, KeyStore, StoredKeys } from './port.js'
import { SCOPES, type Scope } from './scopes.js'

export interface ApiKey {
  /** Tells keys apart that had the same name one after the other. */
  id: string
  name: string
  scopes: Scope[]
  createdAt: string
}

/** Who is calling: the key that was presented. */
export interface Principal {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
}

/** API keys: made here, shown once, kept only as hashes. */
export class ApiKeys {
  private reserved: () => readonly string[] = () => []

  constructor(
    private readonly store: KeyStore,
    private readonly clock: Clock,
  ) {}

  /** Names of keys that the configuration holds: no stored key may have one, so that a name means one key. */
  reserve(names: () => readonly string[]): void {
    this.reserved = names
  }

  async create(input: { name: string; scopes: string[] }): Promise<ApiKey & { key: string }> {
    const name = identifier('name', input.name)
    const scopes = parseScopes('scopes', input.scopes)
    if (this.reserved().includes(name)) {
      throw new CatracaError('KEY_EXISTS', `there is already an API key named ${name}, in CATRACA_KEYS`)
    }
    const key = `ctr_${randomBytes(32).toString('base64url')}`
    const record: KeyRecord = { name, scopes, hash: hashKey(key), createdAt: this.clock.now() }
    if (!(await this.store.add(record))) {
      throw new CatracaError('KEY_EXISTS', `there is already an API key named ${name}`)
    }
    return { ...describe(record), key }
  }

  async list(): Promise<ApiKey[]> {
    return (await this.store.list()).records.map(describe)
  }

  async revoke(name: string): Promise<void> {
    if (this.reserved().includes(name)) {
      const message = `the API key ${name} is defined in CATRACA_KEYS: remove it there to revoke it`
      throw new CatracaError('KEY_CONFIGURED', message)
    }
    if (!(await this.store.remove(identifier('name', name)))) {
      throw new CatracaError('KEY_NOT_FOUND', `there is no API key named ${name}`)
    }
  }

  /** Lets everybody on the machine in again, where the last key was revoked. */
  async unlock(): Promise<void> {
    if (!(await this.store.unlock())) {
      throw new CatracaError('KEY_EXISTS', 'the store holds API keys: revoke them first')
    }
  }

  /** What servers decide by. */
  stored(): Promise<StoredKeys> {
    return this.store.list()
  }
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

const ID_DIGITS = 12

/** The beginning of its hash: whoever has the entry of a key, or the key itself, finds it in the audit trail. */
export function keyId({ hash }: Pick<KeyRecord, 'hash'>): string {
  return hash.slice(0, ID_DIGITS)
}

export function parseScopes(path: string, value: unknown): Scope[] {
  if (!Array.isArray(value) || value.length === 0) throw invalid(path, 'must name at least one scope')
  for (const [i, scope] of value.entries()) {
    if (!(SCOPES as readonly unknown[]).includes(scope)) {
      throw invalid(`${path}[${i}]`, `must be one of ${SCOPES.join(', ')}`)
    }
  }
  return [...new Set(value as Scope[])]
}

function describe({ name, scopes, hash, createdAt }: KeyRecord): ApiKey {
  return { id: keyId({ hash }), name, scopes, createdAt: isoTime(createdAt) }
}
