import type { Command } from 'commander'
import { CatracaError } from '../../core/errors.js'
import type { RecordView } from '../../guards/idempotency/types.js'
import { pick, printFacts, printJson, printLine } from '../output/print.js'
import { type CommonOptions, dataCommand, withSession } from './support/session.js'

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

function show(operation: string, key: string, flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ idempotency, json }) => {
    const record = (await idempotency.get({ operation, key })) ?? notFound(operation, key)
    if (json) printJson(pick(record, FIELDS))
    else printFacts(pick(record, FIELDS))
  })
}

function remove(operation: string, key: string, flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ idempotency, json }) => {
    if (!(await idempotency.delete({ operation, key }))) notFound(operation, key)
    if (json) printJson({ operation, key, deleted: true })
    else printLine(`deleted ${operation} ${key}`)
  })
}

function notFound(operation: string, key: string): never {
  throw new CatracaError('IDEMPOTENCY_RECORD_NOT_FOUND', `there is no record of ${operation} ${key}`)
}
