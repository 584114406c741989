import {
  type Check,
  type CheckResult,
  clockResult,
  isLoopbackAddress,
  latencyResult,
  ok,
  problem,
  skipped,
  warning,
} from '../../../core/diagnosis.js'
import { numberOf, ofEach, type RedisFacts, type Server } from './context.js'

const LEAST_VERSION = [7, 0] as const
const PINGS = 50
const TIMES = 5
const FULL_SHARE = 0.8
const TOO_FULL_SHARE = 0.95

export const versionCheck: Check<RedisFacts> = {
  id: 'redis.version',
  expects: `Redis ${LEAST_VERSION.join('.')} or newer.`,
  remedy: 'Upgrade the server.',
  run: (context) =>
    ofEach(context, ({ info }) => {
      const version = info.get('redis_version') ?? ''
      const [major = 0, minor = 0] = version.split('.').map(Number)
      const isNew = major > LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor >= LEAST_VERSION[1])
      return isNew ? ok(version) : problem(version === '' ? 'it does not report its version' : version)
    }),
}

export const evictionCheck: Check<RedisFacts> = {
  id: 'redis.eviction',
  expects: 'A server with guard data never evicts keys; a server with only caches evicts keys that expire.',
  remedy:
    'Set `maxmemory-policy noeviction`, or `volatile-lru` if the server has only caches: an evicted key denies or allows customers wrongly.',
  run: (context) =>
    ofEach(context, (server) => {
      const policy = server.info.get('maxmemory_policy') ?? server.settings.get('maxmemory-policy')
      if (policy === undefined) return skipped('it does not report its maxmemory-policy')
      const found = `maxmemory-policy is ${policy}`
      if (context.use === 'caches') return policy.startsWith('volatile-') ? ok(found) : warning(found)
      return policy === 'noeviction' ? ok(found) : problem(found)
    }),
}

export const maxmemoryCheck: Check<RedisFacts> = {
  id: 'redis.maxmemory',
  expects: '`maxmemory` is set.',
  remedy:
    'Set `maxmemory` below the memory of the machine: without it the system kills a server that is full.',
  run: (context) =>
    ofEach(context, (server) => {
      const bytes = numberOf(server, 'maxmemory')
      if (Number.isNaN(bytes)) return skipped('it does not report its maxmemory')
      return bytes === 0 ? warning('maxmemory is not set') : ok(`maxmemory is ${bytes} bytes`)
    }),
}

export const memoryCheck: Check<RedisFacts> = {
  id: 'redis.memory',
  expects: 'Less than 80 % of the memory is used.',
  remedy: 'Raise `maxmemory`, spread the data over a cluster, or keep less: a full server refuses writes.',
  run: (context) =>
    ofEach(context, (server) => {
      const usedBytes = numberOf(server, 'used_memory')
      const mostBytes = numberOf(server, 'maxmemory') || numberOf(server, 'total_system_memory')
      if (!(mostBytes > 0)) return skipped('it does not report how much memory it has')
      const share = usedBytes / mostBytes
      const found = `${Math.round(share * 100)} % of ${mostBytes} bytes are used`
      if (share > TOO_FULL_SHARE) return problem(found)
      return share > FULL_SHARE ? warning(found) : ok(found)
    }),
}

export const droppedCheck: Check<RedisFacts> = {
  id: 'redis.evictions',
  expects: 'A server with guard data has evicted no key since it started.',
  remedy:
    'Set `maxmemory-policy noeviction` and add memory; import lists again that may have lost members; then run `CONFIG RESETSTAT`.',
  run: (context) =>
    ofEach(context, (server) => {
      const dropped = numberOf(server, 'evicted_keys')
      const found = `${dropped} keys evicted since its start`
      return dropped > 0 && context.use === 'guards' ? problem(found) : ok(found)
    }),
}

export const persistenceCheck: Check<RedisFacts> = {
  id: 'redis.persistence',
  expects: 'A server with guard data writes to its disk, and the last write succeeded.',
  remedy: 'Set `appendonly yes` and `appendfsync everysec`, and see the log of the server for failures.',
  run: (context) => ofEach(context, (server) => persistenceOf(server, context.use === 'caches')),
}

function persistenceOf({ info, settings }: Server, isCache: boolean): CheckResult {
  const failed = ['rdb_last_bgsave_status', 'aof_last_bgrewrite_status', 'aof_last_write_status'].filter(
    (field) => (info.get(field) ?? 'ok') !== 'ok',
  )
  if (failed.length > 0) return problem(`failed: ${failed.join(', ')}`)
  if (isCache) return ok('the server has only caches')
  if (info.get('aof_enabled') === '1') {
    const fsync = settings.get('appendfsync')
    const found = `append-only file${fsync === undefined ? '' : `, appendfsync ${fsync}`}`
    return fsync === 'no'
      ? warning(`${found}: the operating system decides when data reaches the disk`)
      : ok(found)
  }
  const save = settings.get('save')
  if (save === undefined) return skipped('no append-only file; it does not report whether it makes snapshots')
  return save === ''
    ? warning('neither append-only file nor snapshots: a restart loses everything')
    : warning(`snapshots only (save ${save}): a crash loses the writes since the last one`)
}

export const clockCheck: Check<RedisFacts> = {
  id: 'redis.clock',
  expects: 'The clocks of the server and of this machine differ by less than a second.',
  remedy: 'Synchronize both with a time server (NTP): leases, limits and expiry depend on both clocks.',
  run: (context) =>
    ofEach(context, async ({ address }) => {
      let best = { offMs: Number.NaN, withinMs: Number.POSITIVE_INFINITY }
      for (let i = 0; i < TIMES; i++) {
        const sentAt = context.now()
        const [seconds, micros] = (await context.redis.readAt(address, ['TIME'])) as [string, string]
        const receivedAt = context.now()
        const withinMs = (receivedAt - sentAt) / 2 + 1
        const theirs = Number(seconds) * 1000 + Number(micros) / 1000
        if (withinMs < best.withinMs) best = { offMs: theirs - (sentAt + receivedAt) / 2, withinMs }
      }
      return clockResult(best.offMs, best.withinMs)
    }),
}

export const latencyCheck: Check<RedisFacts> = {
  id: 'redis.latency',
  expects: 'The server answers in less than 10 ms.',
  remedy:
    'Place server and pods closer to each other, and look for slow commands, a busy disk or a swapping machine.',
  run: (context) =>
    ofEach(context, async ({ address }) => {
      const tookMs: number[] = []
      for (let i = 0; i < PINGS; i++) {
        const begunMs = performance.now()
        await context.redis.readAt(address, ['PING'])
        tookMs.push(performance.now() - begunMs)
      }
      return latencyResult('PING', tookMs)
    }),
}

export const networkCheck: Check<RedisFacts> = {
  id: 'redis.network',
  expects: 'A server on another machine is used with TLS and a password.',
  remedy:
    'Use `rediss://` (or `tls=true`) and a password: without them, others on the network can read and change the data.',
  run({ url, hasPassword }): CheckResult {
    if (url.nodes.every(({ host }) => isLoopbackAddress(host))) return ok('it is on this machine')
    const missing = [...(url.tls ? [] : ['no TLS']), ...(hasPassword ? [] : ['no password'])]
    return missing.length === 0
      ? ok('TLS and a password')
      : warning(`on another machine: ${missing.join(', ')}`)
  },
}
