import { type Command, Option } from 'commander'
import { CatracaError } from '../../core/errors.js'
import { RECORD_STATUSES, type RecordQuery, type RecordView } from '../../guards/idempotency/types.js'
import { pick, printFacts, printRows } from '../output/print.js'
import { addListingOptions, firstListed, LISTING, printListing } from './support/listing.js'
import { digits } from './support/parse.js'
import { changeCommand, dataCommand, inSession } from './support/session.js'

const FIELDS = [
  ...['pk', 'operationType', 'idempotencyKey', 'status', 'requestHash', 'responsePayload'],
  ...['createdAt', 'updatedAt', 'expiresAt', 'ttl', 'attempt', 'leaseUntil', 'omittedBytes', 'error'],
  ...['onLeaseExpired'],
] as (keyof RecordView)[]

export function addIdempotencyCommands(program: Command): void {
  const records = program.command('idempotency').description('idempotency records')
  dataCommand(records, 'get <operation> <key>', 'show a record').action(show)
  const listing = dataCommand(records, 'list', 'show records, without requests and responses')
    .option('--operation <name>', 'only records of this operation')
    .addOption(new Option('--status <status>', 'only these').choices(RECORD_STATUSES))
    .option('--lease-ended', 'only claims whose lease has ended')
    .option('--older-than-seconds <seconds>', 'only records that were last changed so long ago', digits(10))
  addListingOptions(listing).action(listRecords)
  changeCommand(
    records,
    'delete <operation> <key...>',
    'delete records: their requests can be executed again',
  ).action(remove)
}

const show = inSession(async ({ idempotency, print }, operation: string, key: string) => {
  const record = pick((await idempotency.get({ operation, key })) ?? notFound(operation, key), FIELDS)
  print(record, () => printFacts(record))
})

const QUERY = [...LISTING, ...(['operation', 'status', 'leaseEnded', 'olderThanSeconds'] as const)] as const

const listRecords = inSession(async ({ idempotency, print }, flags: RecordQuery) => {
  const page = await firstListed((query) => idempotency.list(query), pick(flags, QUERY))
  printListing(print, page, {
    ...{ OPERATION: 'operation', KEY: 'key', STATUS: 'status', ATTEMPT: 'attempt' },
    ...{ UPDATED: 'updatedAt', 'LEASE UNTIL': 'leaseUntil', ERROR: 'error' },
  })
})

const remove = inSession(async ({ idempotency, print }, operation: string, keys: string[]) => {
  if (keys.length > 1) {
    const items: { operation: string; key: string; deleted: boolean }[] = []
    for (const key of keys)
      items.push({ operation, key, deleted: await idempotency.delete({ operation, key }) })
    print({ items }, () => printRows(items, { KEY: 'key', DELETED: ({ deleted }) => String(deleted) }))
    return
  }
  const key = keys[0]!
  if (!(await idempotency.delete({ operation, key }))) notFound(operation, key)
  print({ operation, key, deleted: true }, `deleted ${operation} ${key}`)
})

function notFound(operation: string, key: string): never {
  throw new CatracaError('IDEMPOTENCY_RECORD_NOT_FOUND', `there is no record of ${operation} ${key}`)
}
