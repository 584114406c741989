import {
  type Check,
  type CheckResult,
  type Diagnosis,
  ok,
  problem,
  reasonOf,
  runChecks,
  skipAll,
} from '../../../core/diagnosis.js'
import { keysFound } from '../../../guards/access/lock-mark.js'
import type { DiagnosedFor } from '../../registry-entry.js'
import { readKeys } from '../access/store.js'
import { connectionSettings, openRedis } from '../link/open-redis.js'
import { settingsOf } from '../link/options.js'
import type { Redis } from '../link/redis.js'
import type { RedisEngineOptions } from '../options.js'
import type { RedisUrl } from '../url.js'
import { type RedisFacts, readServer } from './context.js'
import { expiryCheck, olderKeysCheck, scriptCheck, slowLogCheck } from './keys.js'
import { permissionCheck } from './permissions.js'
import {
  clockCheck,
  droppedCheck,
  evictionCheck,
  latencyCheck,
  maxmemoryCheck,
  memoryCheck,
  networkCheck,
  persistenceCheck,
  versionCheck,
} from './servers.js'
import { replicaCheck, roleCheck, topologyCheck } from './topology.js'

const connectCheck: Check<CheckResult> = {
  id: 'redis.connect',
  expects: 'The servers can be reached, and accept the password.',
  remedy: 'Start the servers, or correct the address, the network, TLS or the password.',
  run: (verdict) => verdict,
}

const CHECKS: readonly Check<RedisFacts>[] = [
  versionCheck,
  roleCheck,
  replicaCheck,
  evictionCheck,
  maxmemoryCheck,
  memoryCheck,
  droppedCheck,
  persistenceCheck,
  networkCheck,
  clockCheck,
  latencyCheck,
  permissionCheck,
  scriptCheck,
  slowLogCheck,
  expiryCheck,
  olderKeysCheck,
]

export const REDIS_CHECKS: readonly Check<never>[] = [connectCheck, topologyCheck, ...CHECKS]

interface RedisDiagnoseOptions extends Pick<DiagnosedFor, 'use' | 'cacheSpaces'> {
  now?: () => number
}

/** Read-only, except that it loads our scripts into the servers' memory, as every start does. */
export async function diagnoseRedis(
  url: RedisUrl,
  options: RedisEngineOptions,
  { use, cacheSpaces, now = Date.now }: RedisDiagnoseOptions,
  where: string,
): Promise<Diagnosis> {
  // Defines all scripts, which the checks look for.
  await import('../index.js')
  const settings = settingsOf(options)
  const connection = connectionSettings(url, settings)
  const { redis, verdict } = await connect(url, options)
  try {
    const findings = [
      ...(await runChecks([connectCheck], verdict, { where })),
      ...(await runChecks([topologyCheck], { url, connection }, { where })),
    ]
    if (redis === undefined)
      return { findings: [...findings, ...skipAll(CHECKS, 'there is no connection', where)] }
    const servers = await Promise.all(redis.primaries().map((address) => readServer(redis, address)))
    const waitReplicas = settings.waitReplicas?.replicas ?? 0
    const hasPassword = connection.password !== undefined
    const context = { url, use, redis, servers, waitReplicas, hasPassword, cacheSpaces, connection, now }
    const keys = await readKeys(redis).catch(() => undefined)
    findings.push(...(await runChecks(CHECKS, context, { where })))
    return { findings, ...(keys && { apiKeys: keysFound(keys) }) }
  } catch (error) {
    const broken = await runChecks([connectCheck], problem(reasonOf(error)), { where })
    return { findings: [...broken, ...skipAll(CHECKS, 'the connection was lost', where)] }
  } finally {
    await redis?.close()
  }
}

async function connect(
  url: RedisUrl,
  options: RedisEngineOptions,
): Promise<{ redis: Redis | undefined; verdict: CheckResult }> {
  try {
    const redis = await openRedis(url, options)
    return { redis, verdict: ok(`connected to ${redis.primaries().join(', ')}`) }
  } catch (error) {
    return { redis: undefined, verdict: problem(reasonOf(error)) }
  }
}
