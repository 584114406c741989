import type { Command } from 'commander'
import { CatracaError } from '../../core/errors.js'
import type { RecordView } from '../../guards/idempotency/types.js'
import { pick, printFacts } from '../output/print.js'
import { dataCommand, inSession } from './support/session.js'

const FIELDS = [
  ...['pk', 'operationType', 'idempotencyKey', 'status', 'requestHash', 'responsePayload'],
  ...['createdAt', 'updatedAt', 'expiresAt', 'ttl', 'attempt', 'leaseUntil', 'omittedBytes', 'error'],
  ...['onLeaseExpired'],
] as (keyof RecordView)[]

export function addIdempotencyCommands(program: Command): void {
  const records = program.command('idempotency').description('idempotency records')
  dataCommand(records, 'get <operation> <key>', 'show a record').action(show)
  dataCommand(
    records,
    'delete <operation> <key>',
    'delete a record: the request can be executed again',
  ).action(remove)
}

const show = inSession(async ({ idempotency, print }, operation: string, key: string) => {
  const record = pick((await idempotency.get({ operation, key })) ?? notFound(operation, key), FIELDS)
  print(record, () => printFacts(record))
})

const remove = inSession(async ({ idempotency, print }, operation: string, key: string) => {
  if (!(await idempotency.delete({ operation, key }))) notFound(operation, key)
  print({ operation, key, deleted: true }, `deleted ${operation} ${key}`)
})

function notFound(operation: string, key: string): never {
  throw new CatracaError('IDEMPOTENCY_RECORD_NOT_FOUND', `there is no record of ${operation} ${key}`)
}
