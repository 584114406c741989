import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, isoTime } from '../clock.js'
import { CatracaError, invalid } from '../errors.js'
import { identifier } from '../key.js'
import type { KeyRecord, KeyStore } from './port.js'
import { SCOPES, type Scope } from './scopes.js'

export interface ApiKey {
  name: string
  scopes: Scope[]
  createdAt: string
}

/** Who is calling: the name and scopes of the key that was presented. */
export interface Principal {
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
}

/** API keys: made here, shown once, kept only as hashes. */
export class ApiKeys {
  constructor(
    private readonly store: KeyStore,
    private readonly clock: Clock,
  ) {}

  async create(input: { name: string; scopes: string[] }): Promise<ApiKey & { key: string }> {
    const name = identifier('name', input.name)
    const scopes = parseScopes('scopes', input.scopes)
    const key = `ctr_${randomBytes(32).toString('base64url')}`
    const record: KeyRecord = { name, scopes, hash: hashKey(key), createdAt: this.clock.now() }
    if (!(await this.store.add(record))) {
      throw new CatracaError('KEY_EXISTS', `there is already an API key named ${name}`)
    }
    return { ...describe(record), key }
  }

  async list(): Promise<ApiKey[]> {
    return (await this.store.list()).map(describe)
  }

  async revoke(name: string): Promise<void> {
    if (!(await this.store.remove(identifier('name', name)))) {
      throw new CatracaError('KEY_NOT_FOUND', `there is no API key named ${name}`)
    }
  }

  records(): Promise<KeyRecord[]> {
    return this.store.list()
  }
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/**
 * Finds the key among the records. Every record is compared, and each comparison takes the same time,
 * so that the time of a refusal tells nothing about the keys that exist.
 */
export function findKey(key: string, records: readonly KeyRecord[]): KeyRecord | undefined {
  const hash = Buffer.from(hashKey(key), 'hex')
  let found: KeyRecord | undefined
  for (const record of records) {
    const candidate = Buffer.from(record.hash, 'hex')
    if (candidate.length === hash.length && timingSafeEqual(candidate, hash)) found = record
  }
  return found
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

function describe({ name, scopes, createdAt }: KeyRecord): ApiKey {
  return { name, scopes, createdAt: isoTime(createdAt) }
}
