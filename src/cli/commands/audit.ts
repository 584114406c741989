import type { Command } from 'commander'
import type { AuditApi } from '../../guards/audit/api.js'
import type { AuditEntry, AuditPage, AuditQuery, AuditTarget } from '../../guards/audit/types.js'
import { pick, printJson, printTable } from '../output/print.js'
import { addPageOptions, noteNextPage, type PageFlags, pageOf } from './lists.js'
import { dataCommand, withSession } from './support/session.js'

interface ListFlags extends PageFlags {
  target?: string
  actor?: string
  search?: string
  action?: string
  from?: string
  to?: string
}

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('the audit trail: who changed what')
  const list = dataCommand(audit, 'list', 'show changes of lists, members, limits and keys, the newest first')
    .option(
      '--target <kind:id>',
      'changed object, such as allowlist:vip, customer:alice, limit:RESOURCE, key:NAME',
    )
    .option('--actor <name>', 'who made the change: name of a key, a user or a program')
    .option('--search <text>', 'part of the id of the changed object, or of the name of the actor')
    .option('--action <action>', 'action such as allowlist.update, or its beginning')
    .option('--from <time>', 'changes from this time on, ISO 8601')
    .option('--to <time>', 'changes before this time, ISO 8601')
  addPageOptions(list).action(listEntries)
}

function listEntries(flags: ListFlags): Promise<void> {
  const { target, actor, search, action, from, to } = flags
  const query: AuditQuery = {
    ...(target !== undefined && { target }),
    ...(actor !== undefined && { actor }),
    ...(search !== undefined && { search }),
    ...(action !== undefined && { action }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...pageOf(flags),
  }
  return withSession(flags, async ({ audit, json }) => {
    const page = await firstFound(audit, query)
    if (json) return printJson(page)
    printTable(['AT', 'ACTOR', 'ACTION', 'TARGET', 'CHANGE'], page.items.map(rowOf))
    noteNextPage(page.nextCursor)
  })
}

/** A page can be empty although more pages follow; a user at a terminal wants to see entries. */
async function firstFound(audit: AuditApi, query: AuditQuery): Promise<AuditPage> {
  let page = await audit.list(query)
  while (page.items.length === 0 && page.nextCursor !== undefined) {
    page = await audit.list({ ...query, cursor: page.nextCursor })
  }
  return page
}

const LONGEST_CHANGE = 100

function rowOf(entry: AuditEntry): string[] {
  const { at, actor, action, target, outcome } = entry
  const whole = JSON.stringify(pick(entry, ['before', 'after', 'detail']))
  const change = whole === '{}' ? '' : whole
  const shown = change.length > LONGEST_CHANGE ? `${change.slice(0, LONGEST_CHANGE)}…` : change
  const what = outcome === undefined ? action : `${action} (${outcome})`
  return [at, `${actor.kind}:${actor.name}`, what, targetText(target), shown]
}

function targetText({ kind, id, ...rest }: AuditTarget): string {
  return [`${kind}:${id}`, ...Object.values(rest)].join(' ')
}
