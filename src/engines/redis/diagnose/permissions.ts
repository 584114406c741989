import { type Check, ok, problem, skipped } from '../../../core/diagnosis.js'
import { ofEach, type RedisFacts } from './context.js'

/** One call of each command that the engine uses, on keys like those that it has. */
const CALLS: readonly (readonly string[])[] = [
  ['GET', 'lock:x'],
  ['SET', 'lock:x', '1'],
  ['SETNX', 'catraca:store', '1'],
  ['DEL', 'lock:x'],
  ['UNLINK', 'otp:x'],
  ['EXISTS', 'allowlist:x'],
  ['INCR', 'cache:notices'],
  ['PTTL', 'ratelimit:x:y'],
  ['PEXPIRE', 'ratelimit:x:y', '1'],
  ['PERSIST', 'ratelimit:x:y'],
  ['TYPE', 'allowlist:x'],
  ['RENAME', '{allowlist:x}:next', 'allowlist:x'],
  ['HSET', '{allowlist:x}:meta', 'f', 'v'],
  ['HGETALL', '{allowlist:x}:meta'],
  ['HMGET', '{allowlist:x}:meta', 'f'],
  ['HDEL', '{allowlist:x}:meta', 'f'],
  ['HSCAN', 'catraca:keys', '0'],
  ['SADD', 'allowlist:x', 'm'],
  ['SREM', 'allowlist:x', 'm'],
  ['SMISMEMBER', 'allowlist:x', 'm'],
  ['SSCAN', 'allowlist:x', '0'],
  ['ZADD', 'allowlists', '0', 'm'],
  ['ZREM', 'allowlists', 'm'],
  ['ZRANGE', 'allowlists', '0', '1'],
  ['ZSCORE', 'allowlists', 'm'],
  ['XADD', '{allowlist:x}:log', '*', 'e', 'v'],
  ['XRANGE', '{allowlist:x}:log', '-', '+'],
  ['XTRIM', '{allowlist:x}:log', 'MAXLEN', '1'],
  ['GET', 'bridge:idempotency:x:y'],
  ['GET', 'jwt:blacklist:x'],
  ['SCAN', '0'],
  ['TIME'],
  ['PING'],
  ['INFO'],
  ['PUBLISH', 'cache:notices:0', 'm'],
  ['SUBSCRIBE', 'cache:notices:0'],
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
      if (!isTold) return skipped('this user may not ask what it may do (ACL WHOAMI, ACL DRYRUN)')
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
