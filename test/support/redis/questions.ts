import assert from 'node:assert/strict'
import { type ErrorCode, isCatracaError } from '../../../src/core/errors.js'
import { assembleScript } from '../../../src/engines/redis/link/script.js'
import { inTime } from '../in-time.js'
import type { RedisProcess } from './process.js'

/** Adds to a number; `bad` fails, and `then-bad` fails behind its write. */
export const bump = assembleScript('bump', { keys: 1, write: true }, () => {
  return `return function(keys, args)
    if args[1] == 'bad' then error('not a number') end
    local sum = redis.call('INCRBY', keys[1], args[1])
    if args[2] == 'then-bad' then return redis.error_reply('ERR as asked') end
    return sum
  end`
})

/** How often each command ran since `CONFIG RESETSTAT`. */
export async function commandCounts(server: RedisProcess): Promise<Map<string, number>> {
  const text = String(await server.say('INFO', 'commandstats'))
  const lines = text.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)
  return new Map([...lines].map(([, command, calls]) => [command!, Number(calls)]))
}

/** Fails with this code, and not much later than in time. */
export async function failsInTime(call: Promise<unknown>, code: ErrorCode, ms: number): Promise<string> {
  const outcome = await inTime(call, ms).then(
    (value) => `answered ${String(value)}`,
    (error: unknown) => error,
  )
  assert.ok(isCatracaError(outcome, code), `expected ${code}, got ${String(outcome)}`)
  return outcome.message
}
