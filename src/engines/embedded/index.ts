import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyStore } from '../../guards/access/port.js'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import type { AuditStore } from '../../guards/audit/port.js'
import type { CacheStore } from '../../guards/cache/port.js'
import type { IdempotencyStore } from '../../guards/idempotency/port.js'
import type { LockStore } from '../../guards/lock/port.js'
import type { CodeStore } from '../../guards/one-time-code/port.js'
import type { LimitEngine } from '../../guards/rate-limit/port.js'
import type { TokenStore } from '../../guards/token-denylist/port.js'
import { CacheLink } from './cache/link.js'
import { type DiskUse, diskUse } from './lmdb/disk-use.js'
import type { Durability, EnvironmentOptions } from './lmdb/environment.js'
import { closeOnExit, createGate, type ExitGate } from './lmdb/exit-gate.js'
import { openToOthers } from './lmdb/private-files.js'
import { mainDirectory } from './lmdb/store-directory.js'
import { storedSecret } from './lmdb/stored-secret.js'
import { Writer } from './lmdb/writer.js'
import { bootDirectory, countersDirectory } from './rate-limit/directory.js'
import { LimitLink } from './rate-limit/link.js'
import { openStores } from './stores.js'

const MIB = 1024 * 1024

export interface EmbeddedOptions {
  /** Where the data is; absent: a temporary directory that is removed on close. */
  directory?: string
  durability?: Durability
  /** The same for what is used of rate limits; see rate-limit-directory.ts. */
  limitsDurability?: Durability
  maxSizeBytes?: number
  minFreeBytes?: number
  maxLogBytes?: number
  /** Bytes of cached entries above which some of them make room. */
  cacheMaxBytes?: number
  /** After so long a write is reported as of unknown outcome. */
  writeTimeoutMs?: number
  /** Of the instance that this one is a thread of. */
  gate?: ExitGate
  /** `here`: on the calling thread, for threads that may wait. */
  writes?: 'thread' | 'here'
}

export interface EmbeddedEngine {
  readonly directory: string
  /** For the threads of this instance. */
  readonly gate: ExitGate
  /** All but `bulk` may be called from a thread that must not wait; bulk work is done on the calling thread. */
  readonly allowlists: AllowlistEngine
  readonly keys: KeyStore
  readonly limits: LimitEngine
  readonly idempotency: IdempotencyStore
  readonly codes: CodeStore
  readonly tokens: TokenStore
  readonly audit: AuditStore
  /** A secret that is kept beside the data, made when it is first asked for. */
  keptSecret(name: string): string
  readonly locks: LockStore
  readonly cache: CacheStore
  /** What an operator should know about how the store is set up. */
  readonly warnings: readonly string[]
  readonly writeTimeoutMs: number
  /** The next read sees everything that was committed before this call, also by other threads. */
  refresh(): void
  /** The lists that checks know without asking the store. */
  listCache(): { size: number; hits: number; misses: number }
  /** Throws when the store cannot be read. */
  health(): EmbeddedHealth
  diskUse(): DiskUse
  close(): Promise<void>
}

export interface EmbeddedHealth {
  sizeBytes: number
  freeBytes: number
  /** What will go wrong when nobody does anything. */
  warnings?: string[]
}

export function openEmbedded(options: EmbeddedOptions = {}): EmbeddedEngine {
  const temporary = options.directory === undefined ? temporaryDirectory() : undefined
  const directory = options.directory ?? temporary!.path
  const settings: EnvironmentOptions = {
    directory: mainDirectory(directory),
    isShared: temporary === undefined,
    // A store that goes away with the process has no use for the disk.
    durability: temporary === undefined ? (options.durability ?? 'disk') : 'process',
    minFreeBytes: options.minFreeBytes ?? 64 * MIB,
    maxLogBytes: options.maxLogBytes ?? 16 * MIB,
    gate: options.gate ?? createGate(),
    ...(options.maxSizeBytes === undefined ? {} : { maxSizeBytes: options.maxSizeBytes }),
  }
  const writeTimeoutMs = options.writeTimeoutMs ?? 10_000
  const stores = openStores(settings, { patienceMs: writeTimeoutMs })
  const openGate = options.gate === undefined ? closeOnExit(settings.gate) : () => {}
  const { environment } = stores
  const writer = new Writer(settings, environment, writeTimeoutMs)
  const forward: Writer['forward'] =
    options.writes === 'here'
      ? (_, local) => local
      : (name, local, verbs) => writer.forward(name, local, verbs)
  const limitsDurability = temporary === undefined ? (options.limitsDurability ?? 'process') : 'process'
  const counters = new LimitLink(
    () => ({
      ...settings,
      durability: limitsDurability,
      directory: countersDirectory(directory, limitsDurability),
    }),
    settings.gate,
    writeTimeoutMs,
  )
  const cache = new CacheLink(
    () => ({
      // Not how large the file may grow: it never shrinks, and would take nothing more for ever.
      ...{ ...settings, maxSizeBytes: Number.POSITIVE_INFINITY },
      // What is cached may be lost with the system.
      durability: 'process',
      directory: bootDirectory(join(directory, 'cache')),
      origin: randomUUID(),
      maxBytes: options.cacheMaxBytes ?? 1024 * MIB,
    }),
    writeTimeoutMs,
  )
  return {
    directory,
    gate: settings.gate,
    allowlists: {
      lists: forward('lists', stores.lists, ['create', 'update', 'delete']),
      members: forward('members', stores.members, ['add', 'remove']),
      checks: stores.checks,
      bulk: stores.bulk,
      changes: stores.changes,
      index: forward('index', stores.index, ['claim', 'renew', 'publish', 'abandon', 'putPage', 'countUses']),
      upkeep: forward('upkeep', stores.upkeep, ['sweep']),
    },
    keys: forward('keys', stores.keys, ['add', 'remove', 'unlock']),
    limits: {
      counters,
      configs: forward('limitConfigs', stores.limitConfigs, [
        'write',
        'remove',
        'writeEntity',
        'removeEntity',
        'migrate',
        'secret',
      ]),
      usage: forward('usage', stores.usage, ['count', 'drop']),
    },
    idempotency: forward('idempotency', stores.idempotency, [
      'take',
      'complete',
      'fail',
      'release',
      'extend',
      'remove',
      'dropOver',
    ]),
    codes: forward('codes', stores.codes, ['put', 'attempt', 'revoke', 'sweep']),
    tokens: forward('tokens', stores.tokens, ['revoke', 'sweep']),
    keptSecret: (name) => storedSecret(directory, name),
    audit: forward('audit', stores.audit, ['append', 'sweep']),
    locks: forward('locks', stores.locks, ['acquire', 'extend', 'release', 'remove', 'sweep']),
    cache,
    warnings: rightsWarnings(directory),
    writeTimeoutMs,
    refresh: () => environment.refresh(),
    listCache: () => stores.catalog.cacheFigures(),
    health() {
      environment.refresh()
      environment.settings.get('format')
      const { freeBytes } = diskUse(directory)
      const warnings = [...rightsWarnings(directory)]
      if (freeBytes < settings.minFreeBytes)
        warnings.push(`fewer than ${settings.minFreeBytes} bytes are free on the disk: writes are refused`)
      return {
        sizeBytes: environment.sizeBytes,
        freeBytes,
        ...(warnings.length > 0 && { warnings }),
      }
    },
    diskUse: () => diskUse(directory),
    async close() {
      const ended = [await counters.close(), await cache.close(), await writer.close()]
      await environment.close()
      // A thread that still waits for the lock would keep the process from ending.
      if (!ended.includes(false)) openGate()
      temporary?.remove()
    },
  }
}

/** Rights are never taken away unasked: somebody may count on them. */
function rightsWarnings(directory: string): string[] {
  return openToOthers(directory).length === 0
    ? []
    : [`other users of this machine can read the store: chmod -R go-rwx ${directory}`]
}

/** A directory that goes away with the process, also when nobody closes it. */
function temporaryDirectory() {
  const path = mkdtempSync(join(tmpdir(), 'catraca-'))
  const clear = () => rmSync(path, { recursive: true, force: true })
  process.once('exit', clear)
  return {
    path,
    remove() {
      process.removeListener('exit', clear)
      clear()
    },
  }
}
