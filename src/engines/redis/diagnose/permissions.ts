import { type Check, ok, problem, skipped } from '../../../core/diagnosis.js'
import { API_KEYS_KEY } from '../access/keys.js'
import { listKeys, REGISTRY_KEY, STORE_ID_KEY, shardKeys } from '../allowlist/keys.js'
import { NOTICES_KEY, noticeChannel } from '../cache/keys.js'
import { recordKeys } from '../idempotency/keys.js'
import { lockKey } from '../lock/keys.js'
import { codeRedisKey } from '../one-time-code/keys.js'
import { rowKey } from '../rate-limit/keys.js'
import { tokenKey } from '../token-denylist/keys.js'
import { ofEach, type RedisFacts } from './context.js'

const SHARD = shardKeys('x', 1, 0)
const { meta: META } = listKeys('x')
const LOCK = lockKey('x')
const LIMIT = rowKey({ entity: 'x', resource: 'y' })
const CODE = codeRedisKey({ channel: 'email', address: 'x', purpose: '' })
const [RECORD] = recordKeys('operation', { operation: 'x', key: 'y' })

/** One call of each command that the engine uses, on keys like those that it has. */
const CALLS: readonly (readonly string[])[] = [
  ['GET', LOCK],
  ['SET', LOCK, '1'],
  ['SETNX', STORE_ID_KEY, '1'],
  ['DEL', LOCK],
  ['UNLINK', CODE],
  ['EXISTS', SHARD.members],
  ['INCR', NOTICES_KEY],
  ['PTTL', LIMIT],
  ['PEXPIRE', LIMIT, '1'],
  ['PERSIST', LIMIT],
  ['TYPE', SHARD.members],
  ['RENAME', SHARD.next, SHARD.members],
  ['HSET', META, 'f', 'v'],
  ['HGETALL', META],
  ['HMGET', META, 'f'],
  ['HDEL', META, 'f'],
  ['HSCAN', API_KEYS_KEY, '0'],
  ['SADD', SHARD.members, 'm'],
  ['SREM', SHARD.members, 'm'],
  ['SMISMEMBER', SHARD.members, 'm'],
  ['SSCAN', SHARD.members, '0'],
  ['ZADD', REGISTRY_KEY, '0', 'm'],
  ['ZREM', REGISTRY_KEY, 'm'],
  ['ZRANGE', REGISTRY_KEY, '0', '1'],
  ['ZSCORE', REGISTRY_KEY, 'm'],
  ['ZREMRANGEBYRANK', SHARD.unindexed, '0', '0'],
  ['XADD', SHARD.log, '*', 'e', 'v'],
  ['XRANGE', SHARD.log, '-', '+'],
  ['XTRIM', SHARD.log, 'MAXLEN', '1'],
  ['GET', RECORD],
  ['GET', tokenKey('x')],
  ['SCAN', '0'],
  ['TIME'],
  ['PING'],
  ['INFO'],
  ['PUBLISH', noticeChannel(0), 'm'],
  ['SUBSCRIBE', noticeChannel(0)],
]

export const permissionCheck: Check<RedisFacts> = {
  id: 'redis.permissions',
  expects: 'The user of the URL may run every command that is used.',
  remedy: 'Give the user these commands and key patterns (`ACL SETUSER`).',
  run: (context) =>
    ofEach(context, async ({ address }) => {
      const ask = (args: readonly string[]): Promise<unknown> => context.redis.readAt(address, args)
      const user = String(await ask(['ACL', 'WHOAMI']).catch(() => ''))
      const isTold = user !== '' && (await ask(['ACL', 'DRYRUN', user, 'PING']).catch(() => '')) === 'OK'
      if (!isTold) return skipped('this user may not read its permissions (ACL WHOAMI, ACL DRYRUN)')
      const answers = await Promise.all(
        CALLS.map(async (call) => {
          const answer = await ask(['ACL', 'DRYRUN', user, ...call]).catch(() => 'no answer')
          return { call, isAllowed: answer === 'OK' }
        }),
      )
      const denied = answers
        .filter(({ isAllowed }) => !isAllowed)
        .map(({ call }) => call.slice(0, 2).join(' '))
      return denied.length === 0
        ? ok(`${CALLS.length} kinds of calls are allowed`)
        : problem(`not allowed: ${denied.join(', ')}`)
    }),
}
