import type { Command } from 'commander'
import type { AuditApi } from '../../guards/audit/api.js'
import type { AuditEntry, AuditPage, AuditQuery, AuditTarget } from '../../guards/audit/types.js'
import { pick } from '../output/print.js'
import { addPageOptions, dataCommand, inSession } from './support/session.js'

const FILTERS = ['target', 'actor', 'search', 'action', 'from', 'to'] as const
const QUERY = [...FILTERS, 'limit', 'cursor'] as const

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('the audit trail: who changed what')
  filterOptions(
    dataCommand(audit, 'export', 'write the changes as CSV for spreadsheets to standard output'),
  ).action(exportEntries)
  const list = filterOptions(
    dataCommand(audit, 'list', 'show changes of lists, members, limits and keys, the newest first'),
  )
  addPageOptions(list).action(listEntries)
}

const filterOptions = (command: Command): Command =>
  command
    .option(
      '--target <kind:id>',
      'changed object, such as allowlist:vip, customer:alice, limit:RESOURCE, key:NAME',
    )
    .option('--actor <name>', 'who made the change: name of a key, a user or a program')
    .option(
      '--search <text>',
      'part of the id of the changed object, of the name of the actor, or of the reason',
    )
    .option('--action <action>', 'action such as allowlist.update, or its beginning')
    .option('--from <time>', 'changes from this time on, ISO 8601')
    .option('--to <time>', 'changes before this time, ISO 8601')

const exportEntries = inSession(async ({ audit }, flags: AuditQuery) => {
  for await (const chunk of audit.export(pick(flags, FILTERS))) process.stdout.write(chunk)
})

const listEntries = inSession(async ({ audit, printPage }, flags: AuditQuery) =>
  printPage(await firstFound(audit, pick(flags, QUERY)), {
    AT: 'at',
    ACTOR: ({ actor }) => `${actor.kind}:${actor.name}`,
    ACTION: ({ action, outcome }) => (outcome === undefined ? action : `${action} (${outcome})`),
    TARGET: ({ target }) => targetText(target),
    REASON: 'reason',
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
