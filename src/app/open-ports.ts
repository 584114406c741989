import type { Engine, EnginePorts } from '../engines/engine.js'
import type { LockStore } from '../guards/lock/port.js'
import type { OpenOptions } from './open-options.js'
import type { OpenStore, Stores } from './stores.js'

/** What an engine offers of these. */
export type Offered<All> = { readonly [Name in keyof All]: All[Name] | undefined }

interface OpenPorts {
  /** The store of everything that has no store of its own. */
  readonly main: OpenStore
  readonly ports: Offered<EnginePorts>
  /** The engine of one-time codes, which may keep their secret. */
  readonly codeEngine: Engine
  /** How long a change may take. */
  readonly changeTimeoutMs: number
}

const DEFAULT_WRITE_TIMEOUT_MS = 10_000

/** Opens the stores of all guards, before any guard begins to work. `voting`: locks that need no store. */
export async function openPorts(
  options: OpenOptions,
  stores: Stores,
  voting: LockStore | undefined,
): Promise<OpenPorts> {
  const main = await stores.of(undefined)
  const portOf = async <Guard extends 'limits' | 'idempotency' | 'tokens' | 'locks' | 'audit'>(
    guard: Guard,
  ) => (await stores.of(options[guard]?.store)).ports[guard]
  const { allowlists, keys, sessions } = main.ports
  const limits = await portOf('limits')
  const idempotency = await portOf('idempotency')
  const codeStore = await stores.of(options.codes?.store)
  const { codes } = codeStore.ports
  const tokens = await portOf('tokens')
  const locks = voting ?? (await portOf('locks'))
  const audit = await portOf('audit')
  // If guards use several stores, the slowest one determines how long a change may take.
  const timeouts = stores.open.map(({ engine }) => engine.writeTimeoutMs ?? DEFAULT_WRITE_TIMEOUT_MS)
  const { cache } = (await stores.of(options.cache?.store, 'caches')).ports
  const ports = { allowlists, keys, sessions, limits, idempotency, codes, tokens, locks, cache, audit }
  return { main, ports, codeEngine: codeStore.engine, changeTimeoutMs: Math.max(...timeouts) }
}
