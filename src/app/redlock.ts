import { CatracaError } from '../core/errors.js'
import type { RedisEngineOptions } from '../engines/redis/options.js'
import { storeUrlOf } from '../engines/registry.js'
import type { LockStore } from '../guards/lock/port.js'

/** Locks by majority of independent Redis servers. Undefined: none are configured. */
export async function openVoting(
  redlock: readonly string[] = [],
  options: RedisEngineOptions = {},
): Promise<(LockStore & { close(): Promise<void> }) | undefined> {
  if (redlock.length === 0) return undefined
  const urls = redlock.flatMap((text) => storeUrlOf('redis', text) ?? [])
  const isWrong = urls.length < redlock.length || urls.some(({ topology }) => topology !== 'single')
  if (isWrong || urls.length < 3) {
    throw new CatracaError(
      'CONFIG_INVALID',
      'locks.redlock needs three or more redis:// URLs of single servers',
    )
  }
  const addresses = urls.map(({ nodes }) => `${nodes[0]!.host}:${nodes[0]!.port}`)
  if (new Set(addresses).size < addresses.length) {
    // Databases of one server would vote together, and be lost together.
    throw new CatracaError('CONFIG_INVALID', 'locks.redlock must not name a server twice')
  }
  const { openRedlock } = await import('../engines/redis/lock/redlock.js')
  const { connectTimeoutMs, commandTimeoutMs, tls } = options
  return openRedlock(urls, {
    ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
    ...(commandTimeoutMs !== undefined && { commandTimeoutMs }),
    ...(tls !== undefined && { tls }),
  })
}
