import type { Command } from 'commander'
import type { AuditApi } from '../../guards/audit/api.js'
import type { AuditEntry, AuditPage, AuditQuery, AuditTarget } from '../../guards/audit/types.js'
import { pick } from '../output/print.js'
import { addPageOptions, dataCommand, inSession } from './support/session.js'

const QUERY = ['target', 'actor', 'search', 'action', 'from', 'to', 'limit', 'cursor'] as const

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

const listEntries = inSession(async ({ audit, printPage }, flags: AuditQuery) =>
  printPage(await firstFound(audit, pick(flags, QUERY)), {
    AT: 'at',
    ACTOR: ({ actor }) => `${actor.kind}:${actor.name}`,
    ACTION: ({ action, outcome }) => (outcome === undefined ? action : `${action} (${outcome})`),
    TARGET: ({ target }) => targetText(target),
    CHANGE: changeText,
  }),
)

/** A page can be empty although more pages follow; a user at a terminal wants to see entries. */
async function firstFound(audit: AuditApi, query: AuditQuery): Promise<AuditPage> {
  let page = await audit.list(query)
  while (page.items.length === 0 && page.nextCursor !== undefined) {
    page = await audit.list({ ...query, cursor: page.nextCursor })
  }
  return page
}

const LONGEST_CHANGE = 100

function changeText(entry: AuditEntry): string {
  const whole = JSON.stringify(pick(entry, ['before', 'after', 'detail']))
  const change = whole === '{}' ? '' : whole
  return change.length > LONGEST_CHANGE ? `${change.slice(0, LONGEST_CHANGE)}…` : change
}

function targetText({ kind, id, ...rest }: AuditTarget): string {
  return [`${kind}:${id}`, ...Object.values(rest)].join(' ')
}
