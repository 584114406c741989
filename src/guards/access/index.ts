import { createHash, randomBytes } from 'node:crypto'
import { type Clock, isoTime } from '../../core/clock.js'
import { CatracaError, invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { KeyRecord, KeyStore, StoredKeys } from './port.js'
import { SCOPES, type Scope } from './scopes.js'

export interface ApiKey {
  /** Distinguishes keys that had the same name at different times. */
  id: string
  name: string
  scopes: Scope[]
  createdAt: string
}

/** The API key that the caller presented. */
export interface Principal {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
}

/** API keys: created here, shown once, stored only as hashes. */
export class ApiKeys {
  private reserved: () => readonly string[] = () => []

  constructor(
    private readonly store: KeyStore,
    private readonly clock: Clock,
  ) {}

  /** Names of keys from the configuration. No stored key may use them, so a name always means one key. */
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

  /** Admits every caller on the machine again, after the last key was revoked. */
  async unlock(): Promise<void> {
    if (!(await this.store.unlock())) {
      throw new CatracaError('KEY_EXISTS', 'the store holds API keys: revoke them first')
    }
  }

  /** The keys and the lock, from which servers decide. */
  stored(): Promise<StoredKeys> {
    return this.store.list()
  }
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

const ID_DIGITS = 12

/** The first digits of its hash. With the key, or its entry, you can find its changes in the audit trail. */
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
