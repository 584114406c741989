import type { Database, DatabaseOptions, RootDatabase } from 'lmdb'
import { expiryKeys, memberKeys, reverseKeys } from '../allowlist/keys.js'

// lmdb types keys narrowly; the key encoders take key objects as well as bytes.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Keyed = Database<Buffer, any>

// `keyEncoder` is documented by lmdb and missing from its types.
const keyed = (keyEncoder: object): DatabaseOptions => ({ encoding: 'binary', keyEncoder }) as DatabaseOptions

const text = { encoding: 'string', keyEncoding: 'ordered-binary' } as const
const named = { encoding: 'string', keyEncoding: 'binary' } as const
const binary = { encoding: 'binary', keyEncoding: 'binary' } as const
const packed = { encoding: 'binary', keyEncoding: 'ordered-binary' } as const

/** A base class, because fields of a class cannot use what its own constructor takes. */
class Rooted {
  constructor(protected readonly root: RootDatabase) {}
}

/** All databases of an environment. */
export class Databases extends Rooted {
  readonly settings = this.root.openDB<string, string>('settings', text)
  readonly lists = this.root.openDB<string, string>('lists', text)
  /** List number → list id. */
  readonly numbers = this.root.openDB<string, Uint8Array>('numbers', named)
  readonly counters = this.root.openDB<Buffer, Uint8Array>('counters', binary)
  readonly members: Keyed = this.root.openDB('members', keyed(memberKeys))
  readonly reverse: Keyed = this.root.openDB('reverse', keyed(reverseKeys))
  readonly expiry: Keyed = this.root.openDB('expiry', keyed(expiryKeys))
  readonly imports = this.root.openDB<Buffer, Uint8Array>('imports', binary)
  readonly log = this.root.openDB<Buffer, Uint8Array>('log', binary)
  readonly manifests = this.root.openDB<string, Uint8Array>('manifests', named)
  readonly pages = this.root.openDB<Buffer, Uint8Array>('pages', binary)
  /** The build leases of the indexes. */
  readonly builds = this.root.openDB<string, Uint8Array>('builds', named)
  /** How often each list was checked, by list id. */
  readonly uses = this.root.openDB<string, string>('uses', text)
  readonly sweeps = this.root.openDB<string, string>('sweeps', text)
  readonly apiKeys = this.root.openDB<string, string>('api-keys', text)
  /** Sessions by person. */
  readonly sessions = this.root.openDB<string, string>('sessions', text)
  /** Rate-limit states and used leases. They live in a separate environment, see rate-limit/counters.ts. */
  readonly limitStates = this.root.openDB<string, string[]>('limit-states', text)
  readonly leases = this.root.openDB<string, string>('leases', text)
  readonly limitConfigs = this.root.openDB<string, string[]>('limit-configs', text)
  readonly entities = this.root.openDB<string, string>('entities', text)
  readonly usage = this.root.openDB<string, (string | number)[]>('usage', text)
  readonly idempotency = this.root.openDB<Buffer, (string | number)[]>('idempotency', packed)
  readonly codes = this.root.openDB<string, (string | number)[]>('codes', text)
  readonly tokens = this.root.openDB<string, (string | number)[]>('tokens', text)
  /** Audit entries by id. */
  readonly audit = this.root.openDB<string, string>('audit', text)
  /** Locks and their owners by lock name. */
  readonly locks = this.root.openDB<string, string>('locks', text)
  /** Cache entries by space and key, in a separate environment too; see cache/link.ts. */
  readonly cacheEntries = this.root.openDB<Buffer, string[]>('cache-entries', packed)
  readonly cacheFills = this.root.openDB<string, string[]>('cache-fills', text)
  /** Number of the last invalidation of a space, or of a tag in it. */
  readonly cacheMarks = this.root.openDB<string, string[]>('cache-marks', text)
  readonly cacheNotices = this.root.openDB<string, number>('cache-notices', text)

  /** The same as a list. */
  protected readonly databases: readonly Database[] = Object.values(this).filter(
    (value) => value !== this.root && typeof value?.getRange === 'function',
  )
}
