import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { identifier } from '../../core/identifiers.js'
import { hashKey, parseScopes } from '../../guards/access/index.js'
import { SCOPES } from '../../guards/access/scopes.js'
import { note, printFacts, printResult, printRows } from '../output/print.js'
import { list } from './support/parse.js'
import { dataCommand, inSession } from './support/session.js'

const SCOPES_HELP = `what the key may do, separated by commas: ${SCOPES.join(', ')}`

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys')
  dataCommand(key, 'create <name>', 'create a key; it is shown only once')
    .requiredOption('--scopes <scopes>', SCOPES_HELP, list)
    .action(createKey)
  dataCommand(key, 'list', 'list the keys: names and scopes, not the secrets').action(listKeys)
  dataCommand(key, 'revoke <name>', 'revoke a key').action(revokeKey)
  dataCommand(key, 'unlock', 'after the last key was revoked, serve this machine without keys again').action(
    unlockKeys,
  )
  key
    .command('generate <name>')
    .description('generate a key and its entry for CATRACA_KEYS, without storing it')
    .requiredOption('--scopes <scopes>', SCOPES_HELP, list)
    .option('--json', 'print JSON')
    .action(generateKey)
}

const createKey = inSession(async ({ keys, print }, name: string, { scopes }: { scopes: string[] }) => {
  const created = await keys.create({ name, scopes })
  print(created, () => {
    printFacts({ ...created, scopes: created.scopes.join(', ') })
    note('Keep the key now: it is not shown again.')
  })
})

const listKeys = inSession(async ({ keys, print }) => {
  const items = await keys.list()
  print({ items }, () =>
    printRows(items, {
      NAME: 'name',
      ID: 'id',
      SCOPES: ({ scopes }) => scopes.join(', '),
      CREATED: 'createdAt',
    }),
  )
})

const revokeKey = inSession(async ({ keys, print }, name: string) => {
  await keys.revoke(name)
  print({ name, revoked: true }, `revoked ${name}; servers refuse it within 5 seconds`)
})

const unlockKeys = inSession(async ({ keys, print }) => {
  await keys.unlock()
  print(
    { unlocked: true },
    'unlocked: within 5 seconds, servers on a loopback address accept calls without a key',
  )
})

function generateKey(name: string, flags: { scopes: string[]; json?: boolean }): void {
  const key = `ctr_${randomBytes(32).toString('base64url')}`
  const entry = {
    name: identifier('name', name),
    scopes: parseScopes('scopes', flags.scopes),
    hash: hashKey(key),
  }
  printResult(flags.json, { key, entry }, () => {
    printFacts({ key, entry: JSON.stringify(entry) })
    note('Give the key to the caller, and add the entry to the array CATRACA_KEYS of the server.')
  })
}
