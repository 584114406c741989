import { createHash, randomBytes } from 'node:crypto'
import { type Clock, isoTime } from '../../core/clock.js'
import { CatracaError, invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import { type Moment, momentOf } from '../../core/moment.js'
import type { Grant } from './grants.js'
import type { KeyChange, KeyRecord, KeyStore, StoredKeys } from './port.js'
import { SCOPES, type Scope } from './scopes.js'

export interface ApiKey {
  /** Distinguishes keys that had the same name at different times. */
  id: string
  name: string
  scopes: Scope[]
  createdAt: string
  /** The actor of the audit trail who created it. Absent for keys of earlier versions. */
  createdBy?: string
  /** Servers refuse the key from then on. */
  expiresAt?: string
  /** The last use that is recorded: a later one, by up to an hour, may not be. */
  usedAt?: string
}

/** The API key that the caller presented, or the person who signed in. */
export interface Principal {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
  /** Of a person, role by role. The scopes of a key have no limits. */
  readonly grants?: readonly Grant[]
  readonly person?: PersonFacts
}

export interface PersonFacts {
  /** Of the person at the provider. */
  readonly subject: string
  readonly roles: readonly string[]
  /** The session ends then at the latest. */
  readonly endsAt: number
}

/** API keys: created here, shown once, stored only as hashes. */
export class ApiKeys {
  private reserved: () => readonly string[] = () => []
  private creator: () => string | undefined = () => undefined

  constructor(
    private readonly store: KeyStore,
    private readonly clock: Clock,
  ) {}

  /** Names of keys from the configuration. No stored key may use them, so a name always means one key. */
  reserve(names: () => readonly string[]): void {
    this.reserved = names
  }

  /** Who creates keys now. */
  createdBy(creator: () => string | undefined): void {
    this.creator = creator
  }

  async create(input: {
    name: string
    scopes: string[]
    expiresAt?: Moment
  }): Promise<ApiKey & { key: string }> {
    const name = identifier('name', input.name)
    const scopes = parseScopes('scopes', input.scopes)
    const expiresAt = input.expiresAt === undefined ? undefined : this.expiry(input.expiresAt)
    const createdBy = this.creator()
    if (this.reserved().includes(name)) {
      throw new CatracaError('KEY_EXISTS', `there is already an API key named ${name}, in CATRACA_KEYS`)
    }
    const key = `ctr_${randomBytes(32).toString('base64url')}`
    const record: KeyRecord = {
      ...{ name, scopes, hash: hashKey(key), createdAt: this.clock.now() },
      ...(createdBy !== undefined && { createdBy }),
      ...(expiresAt !== undefined && { expiresAt }),
    }
    if (!(await this.store.add(record))) {
      throw new CatracaError('KEY_EXISTS', `there is already an API key named ${name}`)
    }
    return { ...describe(record), key }
  }

  async list(): Promise<ApiKey[]> {
    return (await this.store.list()).records.map(describe)
  }

  /** Changes scopes and expiry of a key; `expiresAt: null` removes the expiry. Servers follow within 5 seconds. */
  async update(
    name: string,
    input: { scopes?: string[] | undefined; expiresAt?: Moment | null | undefined },
  ): Promise<ApiKey> {
    this.mustBeStored(name, 'change it there')
    const { scopes, expiresAt } = input
    const change: KeyChange = {
      ...(scopes !== undefined && { scopes: parseScopes('scopes', scopes) }),
      ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : this.expiry(expiresAt) }),
    }
    if (Object.keys(change).length === 0) throw invalid('scopes', 'or expiresAt must be given')
    const record = await this.record(identifier('name', name))
    if (!(await this.store.change(name, record.hash, change))) throw notFound(name)
    return describe(await this.record(name))
  }

  async revoke(name: string): Promise<void> {
    this.mustBeStored(name, 'remove it there to revoke it')
    if (!(await this.store.remove(identifier('name', name)))) throw notFound(name)
  }

  /** Records a use. Servers call it at most once an hour for a key. */
  async used({ name, hash }: Pick<KeyRecord, 'name' | 'hash'>): Promise<void> {
    await this.store.change(name, hash, { usedAt: this.clock.now() })
  }

  now(): number {
    return this.clock.now()
  }

  private mustBeStored(name: string, remedy: string): void {
    if (!this.reserved().includes(name)) return
    throw new CatracaError('KEY_CONFIGURED', `the API key ${name} is defined in CATRACA_KEYS: ${remedy}`)
  }

  private async record(name: string): Promise<KeyRecord> {
    const found = (await this.store.list()).records.find((record) => record.name === name)
    if (found === undefined) throw notFound(name)
    return found
  }

  private expiry(value: unknown): number {
    const at = momentOf('expiresAt', value)
    if (at <= this.clock.now()) throw invalid('expiresAt', 'must be in the future')
    return at
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

const notFound = (name: string): CatracaError =>
  new CatracaError('KEY_NOT_FOUND', `there is no API key named ${name}`)

function describe({ name, scopes, hash, createdAt, createdBy, expiresAt, usedAt }: KeyRecord): ApiKey {
  return {
    ...{ id: keyId({ hash }), name, scopes, createdAt: isoTime(createdAt) },
    ...(createdBy !== undefined && { createdBy }),
    ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
    ...(usedAt !== undefined && { usedAt: isoTime(usedAt) }),
  }
}
