import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FullEngine } from '../engine.js'
import { CacheLink } from './cache/link.js'
import { DEFAULT_EMBEDDED } from './defaults.js'
import { EmbeddedFleet } from './fleet/store.js'
import { diskUse } from './lmdb/disk-use.js'
import type { EnvironmentOptions } from './lmdb/environment.js'
import { closeOnExit, createGate, type ExitGate } from './lmdb/exit-gate.js'
import { lookingFirst } from './lmdb/look-first.js'
import { openToOthers } from './lmdb/private-files.js'
import { mainDirectory } from './lmdb/store-directory.js'
import { storedSecret } from './lmdb/stored-secret.js'
import { Writer } from './lmdb/writer.js'
import type { EmbeddedOptions } from './options.js'
import { bootDirectory, countersDirectory } from './rate-limit/directory.js'
import { LimitsHere } from './rate-limit/here.js'
import { LimitLink } from './rate-limit/link.js'
import { openStores } from './stores.js'
import type { EmbeddedUrl } from './url.js'

/** Bulk work runs on the calling thread and blocks it. Everything else may be called from an event loop. */
export interface EmbeddedEngine extends FullEngine {
  readonly directory: string
  /** To pass to the worker threads of this instance. */
  readonly gate: ExitGate
  readonly warnings: readonly string[]
  refresh(): void
  health(): EmbeddedHealth
}

interface EmbeddedHealth {
  sizeBytes: number
  freeBytes: number
  /** Problems that will cause failures unless an operator acts. */
  warnings?: string[]
}

export function openEmbedded(options: EmbeddedOptions = {}): EmbeddedEngine {
  const temporary = options.directory === undefined ? temporaryDirectory() : undefined
  const directory = options.directory ?? temporary!.path
  const settings: EnvironmentOptions = {
    directory: mainDirectory(directory),
    isShared: temporary === undefined,
    // A temporary store does not outlive the process, so it does not wait for the disk.
    durability: temporary === undefined ? (options.durability ?? DEFAULT_EMBEDDED.durability) : 'process',
    minFreeBytes: options.minFreeBytes ?? DEFAULT_EMBEDDED.minFreeBytes,
    maxLogBytes: options.maxLogBytes ?? DEFAULT_EMBEDDED.maxLogBytes,
    gate: options.gate ?? createGate(),
    ...(options.maxSizeBytes === undefined ? {} : { maxSizeBytes: options.maxSizeBytes }),
  }
  const writeTimeoutMs = options.writeTimeoutMs ?? DEFAULT_EMBEDDED.writeTimeoutMs
  const stores = openStores(settings, { patienceMs: writeTimeoutMs })
  const openGate = options.gate === undefined ? closeOnExit(settings.gate) : () => {}
  const { environment } = stores
  const isHere = (options.writes ?? (temporary === undefined ? 'thread' : 'here')) === 'here'
  const writer = new Writer(settings, environment, writeTimeoutMs)
  const forward: Writer['forward'] = isHere
    ? (_, local) => local
    : (name, local, verbs) => writer.forward(name, local, verbs)
  const limitsDurability =
    temporary === undefined ? (options.limitsDurability ?? DEFAULT_EMBEDDED.limitsDurability) : 'process'
  const counterSettings = () => ({
    ...settings,
    durability: limitsDurability,
    directory: countersDirectory(directory, limitsDurability),
  })
  const counters = isHere
    ? new LimitsHere(counterSettings)
    : new LimitLink(counterSettings, settings.gate, writeTimeoutMs)
  const cache = new CacheLink(
    () => ({
      // No limit on the file size: an LMDB file never shrinks, so a full one would refuse writes for ever.
      ...{ ...settings, maxSizeBytes: Number.POSITIVE_INFINITY },
      // Cached entries may be lost in a crash of the system.
      durability: 'process',
      directory: bootDirectory(join(directory, 'cache')),
      origin: randomUUID(),
      maxBytes: options.cacheMaxBytes ?? DEFAULT_EMBEDDED.cacheMaxBytes,
    }),
    writeTimeoutMs,
    isHere,
  )
  const { gate } = settings
  return {
    name: 'embedded',
    directory,
    gate,
    answersFromMemory: true,
    allowlists: {
      lists: forward('lists', stores.lists, ['create', 'update', 'delete', 'changeAll']),
      members: forward('members', stores.members, ['add', 'remove']),
      checks: stores.checks,
      bulk: stores.bulk,
      changes: stores.changes,
      index: forward('index', stores.index, ['claim', 'renew', 'publish', 'abandon', 'putPage', 'countUses']),
      upkeep: lookingFirst(forward('upkeep', stores.upkeep, ['sweep'])),
    },
    keys: forward('keys', stores.keys, ['add', 'remove', 'unlock']),
    sessions: lookingFirst(forward('sessions', stores.sessions, ['swap', 'sweep'])),
    limits: {
      counters,
      configs: forward('limitConfigs', stores.limitConfigs, [
        'write',
        'remove',
        'writeEntity',
        'removeEntity',
        'changeAll',
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
      'deleteExpired',
    ]),
    codes: lookingFirst(forward('codes', stores.codes, ['put', 'attempt', 'revoke', 'sweep'])),
    tokens: lookingFirst(forward('tokens', stores.tokens, ['revoke', 'sweep'])),
    keptSecret: (name) => storedSecret(directory, name),
    audit: lookingFirst(forward('audit', stores.audit, ['append', 'sweep'])),
    locks: lookingFirst(forward('locks', stores.locks, ['acquire', 'extend', 'release', 'remove', 'sweep'])),
    cache,
    fleet: new EmbeddedFleet(join(mainDirectory(directory), 'fleet')),
    warnings: rightsWarnings(directory),
    writeTimeoutMs,
    forThreads: () => ({
      url: { engine: 'embedded', path: directory } satisfies EmbeddedUrl,
      options: { ...options, gate, writes: 'here' } satisfies EmbeddedOptions,
    }),
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
    figures: () => ({ diskUse: diskUse(directory) }),
    async close() {
      const ended = [await counters.close(), await cache.close(), await writer.close()]
      await environment.close()
      // If a thread still waits for the lock, the gate stays in place: without it, that thread would block the
      // process from exiting.
      if (!ended.includes(false)) openGate()
      temporary?.remove()
    },
  }
}

/** Permissions are only reported, never changed: another program may rely on them. */
function rightsWarnings(directory: string): string[] {
  return openToOthers(directory).length === 0
    ? []
    : [`other users of this machine can read the store: chmod -R go-rwx ${directory}`]
}

/** A directory that is removed when the process exits, even if the engine is never closed. */
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
