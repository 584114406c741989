import { type Command, InvalidArgumentError } from 'commander'
import { CatracaError, invalid } from '../../core/errors.js'
import { INTEGER_RULE, largeInteger } from '../../core/large-integers.js'
import { printJson, printLine, printTable, visible } from '../output/print.js'
import { type CommonOptions, dataCommand, withSession } from './support/session.js'

interface SetFlags extends CommonOptions {
  ttlMs?: number
}

export function addCacheCommands(program: Command): void {
  const cache = program.command('cache').description('cache spaces of the configuration')
  dataCommand(cache, 'get <space> <key>', 'show a cached value').action(get)
  dataCommand(cache, 'set <space> <key> <value>', 'cache a value, given as JSON')
    .option('--ttl-ms <ms>', "how long, instead of the space's TTL", milliseconds)
    .action(set)
  dataCommand(cache, 'delete <space> <key>', 'delete a cached value, on all pods').action(remove)
  dataCommand(
    cache,
    'expire <space> <key>',
    'mark a value as stale: the next request loads it again, and it serves if the load fails',
  ).action(expire)
  dataCommand(cache, 'stats', 'show hits, misses and the state of both tiers').action(showStats)
}

function milliseconds(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number of milliseconds.')
  return Number(text)
}

function jsonValue(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new CatracaError('INVALID_INPUT', `value must be JSON, such as '{"a":1}' or '"text"'`)
  }
  const large = largeInteger(text, value, 'value')
  if (large !== undefined) throw invalid(large, INTEGER_RULE)
  return value
}

function get(space: string, key: string, flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ cache, json }) => {
    const answer = await cache.get(space, key)
    if (answer?.value === undefined) {
      throw new CatracaError('CACHE_KEY_NOT_FOUND', `nothing is cached under ${key} in ${space}`)
    }
    const { value, ageMs, stale, degraded } = answer
    if (json) printJson({ value, ageMs, ...(stale && { stale }), ...(degraded && { degraded }) })
    else printLine(visible(JSON.stringify(value)))
  })
}

function set(space: string, key: string, text: string, { ttlMs, ...flags }: SetFlags): Promise<void> {
  return withSession(flags, async ({ cache, json }) => {
    await cache.set(space, key, jsonValue(text), ttlMs === undefined ? {} : { ttlMs })
    if (json) printJson({ space, key, cached: true })
    else printLine(`cached ${key} in ${space}`)
  })
}

function remove(space: string, key: string, flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ cache, json }) => {
    await cache.delete(space, key)
    if (json) printJson({ space, key, deleted: true })
    else printLine(`deleted ${key} from ${space}`)
  })
}

function expire(space: string, key: string, flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ cache, json }) => {
    await cache.expire(space, key)
    if (json) printJson({ space, key, expired: true })
    else printLine(`expired ${key} in ${space}`)
  })
}

function showStats(flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ cache, json }) => {
    const stats = await cache.stats()
    if (json) {
      printJson({ spaces: stats })
      return
    }
    printTable(
      ['SPACE', 'HIT RATE', 'FIRST TIER', 'SECOND TIER', 'MISSES', 'LOADS', 'STALE', 'STORE'],
      Object.entries(stats).map(([name, each]) => [
        ...[name, `${(each.hitRate * 100).toFixed(1)} %`, each.firstTierHits, each.secondTierHits],
        ...[each.misses, each.loads, each.staleAnswers, each.secondTier.status],
      ]),
    )
  })
}
