import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { identifier } from '../../core/identifiers.js'
import { hashKey, parseScopes } from '../../guards/access/index.js'
import { SCOPES } from '../../guards/access/scopes.js'
import { note, printFacts, printJson, printLine, printTable } from '../output/print.js'
import { list } from './support/parse.js'
import { type CommonOptions, dataCommand, withSession } from './support/session.js'

interface CreateFlags extends CommonOptions {
  scopes: string[]
}

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

function createKey(name: string, flags: CreateFlags): Promise<void> {
  return withSession(flags, async ({ keys, json }) => {
    const created = await keys.create({ name, scopes: flags.scopes })
    if (json) return printJson(created)
    printFacts({ ...created, scopes: created.scopes.join(', ') })
    note('Keep the key now: it is not shown again.')
  })
}

function listKeys(flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ keys, json }) => {
    const items = await keys.list()
    if (json) return printJson({ items })
    printTable(
      ['NAME', 'ID', 'SCOPES', 'CREATED'],
      items.map((item) => [item.name, item.id, item.scopes.join(', '), item.createdAt]),
    )
  })
}

function revokeKey(name: string, flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ keys, json }) => {
    await keys.revoke(name)
    if (json) printJson({ name, revoked: true })
    else printLine(`revoked ${name}; servers refuse it within 5 seconds`)
  })
}

function unlockKeys(flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ keys, json }) => {
    await keys.unlock()
    if (json) printJson({ unlocked: true })
    else printLine('unlocked: within 5 seconds, servers on a loopback address accept calls without a key')
  })
}

function generateKey(name: string, flags: { scopes: string[]; json?: boolean }): void {
  const key = `ctr_${randomBytes(32).toString('base64url')}`
  const entry = {
    name: identifier('name', name),
    scopes: parseScopes('scopes', flags.scopes),
    hash: hashKey(key),
  }
  if (flags.json) {
    printJson({ key, entry })
    return
  }
  printFacts({ key, entry: JSON.stringify(entry) })
  note('Give the key to the caller, and add the entry to the array CATRACA_KEYS of the server.')
}
