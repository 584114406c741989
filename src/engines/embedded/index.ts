import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FullEngine } from '../engine.js'
import { type CacheEnvironmentOptions, CacheLink } from './cache/link.js'
import { DEFAULT_EMBEDDED } from './defaults.js'
import { EmbeddedFleet } from './fleet/store.js'
import { guardPorts } from './guard-ports.js'
import { diskUse } from './lmdb/disk-use.js'
import type { Environment, EnvironmentOptions } from './lmdb/environment.js'
import { closeOnExit, createGate, type ExitGate } from './lmdb/exit-gate.js'
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
  const isTemporary = temporary !== undefined
  const settings = settingsOf(directory, isTemporary, options)
  const { gate } = settings
  const writeTimeoutMs = options.writeTimeoutMs ?? DEFAULT_EMBEDDED.writeTimeoutMs
  const stores = openStores(settings, { patienceMs: writeTimeoutMs })
  const openGate = options.gate === undefined ? closeOnExit(gate) : () => {}
  const { environment } = stores
  const isHere = (options.writes ?? (isTemporary ? 'here' : 'thread')) === 'here'
  const writer = new Writer(settings, environment, writeTimeoutMs)
  const ports = guardPorts(
    stores,
    isHere ? (_, local) => local : (name, local, verbs) => writer.forward(name, local, verbs),
  )
  const counterSettings = () => countersOf(directory, isTemporary, settings, options)
  const counters = isHere
    ? new LimitsHere(counterSettings)
    : new LimitLink(counterSettings, gate, writeTimeoutMs)
  const cache = new CacheLink(() => cacheOf(directory, settings, options), writeTimeoutMs, isHere)
  return {
    name: 'embedded',
    directory,
    gate,
    answersFromMemory: true,
    ...ports,
    limits: { ...ports.limits, counters },
    keptSecret: (name) => storedSecret(directory, name),
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
    health: () => healthOf(directory, environment),
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

function settingsOf(
  directory: string,
  isTemporary: boolean,
  { durability, minFreeBytes, maxLogBytes, maxSizeBytes, gate }: EmbeddedOptions,
): EnvironmentOptions {
  return {
    directory: mainDirectory(directory),
    isShared: !isTemporary,
    // A temporary store does not outlive the process, so it does not wait for the disk.
    durability: isTemporary ? 'process' : (durability ?? DEFAULT_EMBEDDED.durability),
    minFreeBytes: minFreeBytes ?? DEFAULT_EMBEDDED.minFreeBytes,
    maxLogBytes: maxLogBytes ?? DEFAULT_EMBEDDED.maxLogBytes,
    gate: gate ?? createGate(),
    ...(maxSizeBytes === undefined ? {} : { maxSizeBytes }),
  }
}

function countersOf(
  directory: string,
  isTemporary: boolean,
  settings: EnvironmentOptions,
  { limitsDurability = DEFAULT_EMBEDDED.limitsDurability }: EmbeddedOptions,
): EnvironmentOptions {
  const durability = isTemporary ? 'process' : limitsDurability
  return { ...settings, durability, directory: countersDirectory(directory, durability) }
}

function cacheOf(
  directory: string,
  settings: EnvironmentOptions,
  { cacheMaxBytes = DEFAULT_EMBEDDED.cacheMaxBytes }: EmbeddedOptions,
): CacheEnvironmentOptions {
  return {
    ...settings,
    // No limit on the file size: an LMDB file never shrinks, so a full one would refuse writes for ever.
    maxSizeBytes: Number.POSITIVE_INFINITY,
    // Cached entries may be lost in a crash of the system.
    durability: 'process',
    directory: bootDirectory(join(directory, 'cache')),
    origin: randomUUID(),
    maxBytes: cacheMaxBytes,
  }
}

function healthOf(directory: string, environment: Environment): EmbeddedHealth {
  environment.refresh()
  environment.settings.get('format')
  const { minFreeBytes } = environment.options
  const { freeBytes } = diskUse(directory)
  const warnings = [...rightsWarnings(directory)]
  if (freeBytes < minFreeBytes)
    warnings.push(`fewer than ${minFreeBytes} bytes are free on the disk: writes are refused`)
  return { sizeBytes: environment.sizeBytes, freeBytes, ...(warnings.length > 0 && { warnings }) }
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
