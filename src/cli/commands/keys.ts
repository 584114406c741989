import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import { identifier } from '../../core/identifiers.js'
import { hashKey, parseScopes } from '../../guards/access/index.js'
import { SCOPES } from '../../guards/access/scopes.js'
import { note, pick, printFacts, printResult, printRows } from '../output/print.js'
import { list } from './support/parse.js'
import { changeCommand, dataCommand, inSession } from './support/session.js'

const SCOPES_HELP = `what the key may do, separated by commas: ${SCOPES.join(', ')}`

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys')
  changeCommand(key, 'create <name>', 'create a key; it is shown only once')
    .requiredOption('--scopes <scopes>', SCOPES_HELP, list)
    .option('--expires-at <time>', 'time from which servers refuse the key, ISO 8601')
    .action(createKey)
  changeCommand(key, 'update <name>', 'change scopes or expiry of a key; servers follow within 5 seconds')
    .option('--scopes <scopes>', SCOPES_HELP, list)
    .option('--expires-at <time>', 'time from which servers refuse the key, ISO 8601')
    .addOption(new Option('--never-expires', 'remove the expiry').conflicts('expiresAt'))
    .action(updateKey)
  dataCommand(key, 'list', 'list the keys: names, scopes and last use, not the secrets').action(listKeys)
  changeCommand(key, 'revoke <name>', 'revoke a key').action(revokeKey)
  changeCommand(
    key,
    'unlock',
    'after the last key was revoked, serve this machine without keys again',
  ).action(unlockKeys)
  key
    .command('generate <name>')
    .description('generate a key and its entry for CATRACA_KEYS, without storing it')
    .requiredOption('--scopes <scopes>', SCOPES_HELP, list)
    .option('--json', 'print JSON')
    .action(generateKey)
}

interface KeyFlags {
  scopes?: string[]
  expiresAt?: string
  neverExpires?: boolean
}

const createKey = inSession(async ({ keys, print }, name: string, flags: KeyFlags & { scopes: string[] }) => {
  const created = await keys.create({ name, ...pick(flags, ['scopes', 'expiresAt']) })
  print(created, () => {
    printFacts({ ...created, scopes: created.scopes.join(', ') })
    note('Keep the key now: it is not shown again.')
  })
})

const updateKey = inSession(async ({ keys, print }, name: string, flags: KeyFlags) => {
  const { scopes, neverExpires } = flags
  const expiresAt = neverExpires ? null : flags.expiresAt
  const changed = await keys.update(name, {
    ...(scopes && { scopes }),
    ...(expiresAt !== undefined && { expiresAt }),
  })
  print(changed, () => printFacts({ ...changed, scopes: changed.scopes.join(', ') }))
})

const listKeys = inSession(async ({ keys, print }) => {
  const items = await keys.list()
  print({ items }, () =>
    printRows(items, {
      NAME: 'name',
      ID: 'id',
      SCOPES: ({ scopes }) => scopes.join(', '),
      ...{ CREATED: 'createdAt', BY: 'createdBy', EXPIRES: 'expiresAt', 'LAST USE': 'usedAt' },
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
