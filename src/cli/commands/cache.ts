import type { Command } from 'commander'
import { CatracaError, invalid } from '../../core/errors.js'
import { INTEGER_RULE, largeInteger } from '../../core/large-integers.js'
import type { ListingQuery } from '../../core/listing.js'
import { pick, printRows, visible } from '../output/print.js'
import { addListingOptions, firstListed, LISTING, printListing } from './support/listing.js'
import { digits } from './support/parse.js'
import { dataCommand, inSession } from './support/session.js'

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
  addListingOptions(dataCommand(cache, 'list <space>', 'show the keys that the store has of a space')).action(
    listKeys,
  )
  dataCommand(cache, 'stats', 'show hits, misses and the state of both tiers').action(showStats)
}

const milliseconds = digits(15, 'Give a whole number of milliseconds.')

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

const get = inSession(async ({ cache, print }, space: string, key: string) => {
  const answer = await cache.get(space, key)
  if (answer?.value === undefined) {
    throw new CatracaError('CACHE_KEY_NOT_FOUND', `nothing is cached under ${key} in ${space}`)
  }
  const { value, ageMs, stale, degraded } = answer
  print(
    { value, ageMs, ...(stale && { stale }), ...(degraded && { degraded }) },
    visible(JSON.stringify(value)),
  )
})

const set = inSession(
  async ({ cache, print }, space: string, key: string, value: string, flags: { ttlMs?: number }) => {
    await cache.set(space, key, jsonValue(value), pick(flags, ['ttlMs']))
    print({ space, key, cached: true }, `cached ${key} in ${space}`)
  },
)

const listKeys = inSession(async ({ cache, print }, space: string, flags: ListingQuery) => {
  const page = await firstListed((query) => cache.list(space, query), pick(flags, LISTING))
  printListing(print, page, { KEY: 'key', 'AGE MS': 'ageMs', 'LEFT MS': 'leftMs', BYTES: 'sizeBytes' })
})

const remove = inSession(async ({ cache, print }, space: string, key: string) => {
  await cache.delete(space, key)
  print({ space, key, deleted: true }, `deleted ${key} from ${space}`)
})

const expire = inSession(async ({ cache, print }, space: string, key: string) => {
  await cache.expire(space, key)
  print({ space, key, expired: true }, `expired ${key} in ${space}`)
})

const showStats = inSession(async ({ cache, print }) => {
  const spaces = await cache.stats()
  const rows = Object.entries(spaces).map(([name, { secondTier, ...stats }]) => ({
    ...{ name, ...stats, store: secondTier.status },
  }))
  print({ spaces }, () =>
    printRows(rows, {
      ...{ SPACE: 'name', 'HIT RATE': ({ hitRate }) => `${(hitRate * 100).toFixed(1)} %` },
      ...{ 'FIRST TIER': 'firstTierHits', 'SECOND TIER': 'secondTierHits', MISSES: 'misses' },
      ...{ LOADS: 'loads', STALE: 'staleAnswers', STORE: 'store' },
    }),
  )
})
