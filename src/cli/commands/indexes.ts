import type { Command } from 'commander'
import { invalid } from '../../core/errors.js'
import type { IndexStatus } from '../../guards/allowlist/types.js'
import { count, note, printFacts, printJson, printTable } from '../output/print.js'
import { type CommonOptions, dataCommand, type Session, withSession } from './support/session.js'

export function addIndexCommands(allowlist: Command, program: Command): void {
  dataCommand(allowlist, 'index <id>', 'show the membership index of an allowlist').action(
    (id: string, flags: CommonOptions) =>
      withSession(flags, async ({ allowlists, json }) => {
        const status = await allowlists.index(id)
        if (json) printJson(status)
        else printFacts(facts(status))
      }),
  )

  const index = program.command('index').description('membership indexes')
  dataCommand(index, 'build [ids...]', 'rebuild the membership indexes of these allowlists')
    .option('--all', 'all FIXA allowlists')
    .action(build)
}

function facts({ lastBuild, sizeBytes, customers, ...status }: IndexStatus) {
  return {
    ...status,
    customers: count(customers),
    sizeBytes: count(sizeBytes),
    builtAt: lastBuild?.at,
    tookMs: lastBuild?.tookMs,
    rebuiltPages: lastBuild?.rebuiltPages,
  }
}

async function build(ids: string[], flags: CommonOptions & { all?: boolean }): Promise<void> {
  if (ids.length === 0 && !flags.all) throw invalid('ids', 'must be given, or --all')
  await withSession(flags, async (session) => {
    const built: IndexStatus[] = []
    for (const id of flags.all ? await allFixa(session) : ids) {
      if (!session.json) note(`building the index of ${id}`)
      await session.allowlists.rebuild(id)
      built.push(await session.allowlists.index(id))
    }
    if (session.json) return printJson(built)
    printTable(
      ['ID', 'CUSTOMERS', 'PAGES', 'BYTES', 'TOOK MS'],
      built.map((one) => [one.allowlistId, one.customers, one.pages, one.sizeBytes, one.lastBuild?.tookMs]),
    )
  })
}

async function allFixa({ allowlists }: Session): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await allowlists.list({ limit: 1000, ...(cursor !== undefined && { cursor }) })
    ids.push(...page.items.filter((list) => list.type === 'FIXA').map((list) => list.id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return ids
}
