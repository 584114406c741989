import { join } from 'node:path'
import { after } from 'node:test'
import type { Database } from 'lmdb'
import { type EmbeddedEngine, openEmbedded } from '../../src/engines/embedded/index.js'
import { Environment } from '../../src/engines/embedded/lmdb/environment.js'
import { mainDirectory } from '../../src/engines/embedded/lmdb/store-directory.js'
import type { EmbeddedOptions } from '../../src/engines/embedded/options.js'
import { bootDirectory, countersDirectory } from '../../src/engines/embedded/rate-limit/directory.js'
import { PATIENCE_MS } from './patient.js'
import { temporaryDirectory } from './temporary.js'

/** Rows of `settings` that instances remember or compare: they name the store, or count what may never go back. */
const KEPT = new Set(['format', 'store', 'catalog', 'next-list', 'cache-number', 'limits-freed'])

/**
 * Opens one store twice for all cases of a test file, and empties it before each. To open it anew for each case would
 * start up to four threads for each, which takes far more processor time than the cases do.
 */
export function embeddedPairs(options: EmbeddedOptions = {}) {
  const next = sharedStore(2, options)
  return async <Port>(port: (engine: EmbeddedEngine) => Port) => {
    const [one, two] = next().map(port) as [Port, Port]
    return { one, two, async close() {} }
  }
}

/** Opens one store for all tests of a file, and empties it whenever a test asks for it. */
export function embeddedInTurn(): () => EmbeddedEngine {
  const next = sharedStore(1)
  return () => next()[0]!
}

function sharedStore(instances: number, options: EmbeddedOptions = {}): () => readonly EmbeddedEngine[] {
  const directory = temporaryDirectory()
  let opened: { engines: EmbeddedEngine[]; environments: Environment[] } | undefined
  after(async () => {
    for (const one of [...(opened?.engines ?? []), ...(opened?.environments ?? [])]) await one.close()
  })
  return () => {
    opened ??= openStore({ ...options, directory }, instances)
    for (const environment of opened.environments) empty(environment)
    for (const engine of opened.engines) engine.refresh()
    return opened.engines
  }
}

function openStore(options: EmbeddedOptions & { directory: string }, instances: number) {
  const { directory } = options
  const engines = Array.from({ length: instances }, () =>
    openEmbedded({ ...options, writeTimeoutMs: PATIENCE_MS }),
  )
  const parts = [
    mainDirectory(directory),
    countersDirectory(directory, 'process'),
    bootDirectory(join(directory, 'cache')),
  ]
  const environments = parts.map((part) =>
    Environment.open({
      ...{ directory: part, isShared: true, durability: 'process', minFreeBytes: 0, maxLogBytes: 0 },
      gate: engines[0]!.gate,
    }),
  )
  return { engines, environments }
}

function empty(environment: Environment): void {
  const { settings, counters } = environment
  const databases = Object.values(environment).filter((value) => typeof value?.getRange === 'function')
  environment.writeNow(() => {
    for (const database of databases as Database[]) {
      for (const key of [...database.getKeys()]) {
        // List number 0 in `counters` is the pulse, which only grows.
        const isKept =
          (database === settings && KEPT.has(key as string)) ||
          (database === counters && (key as Uint8Array).every((byte) => byte === 0))
        if (!isKept) database.removeSync(key)
      }
    }
    settings.putSync('catalog', String(Number(settings.get('catalog') ?? 0) + 1))
    environment.bumpPulse()
  })
}
