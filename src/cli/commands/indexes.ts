import type { Command } from 'commander'
import { invalid } from '../../core/errors.js'
import type { IndexStatus } from '../../guards/allowlist/types.js'
import { count, note, printFacts, printRows } from '../output/print.js'
import {
  allItems,
  type CommonOptions,
  changeCommand,
  dataCommand,
  inSession,
  type Session,
  withSession,
} from './support/session.js'

export function addIndexCommands(allowlist: Command, program: Command): void {
  dataCommand(allowlist, 'index <id>', 'show the membership index of an allowlist').action(
    inSession(async ({ allowlists, print }, id: string) => {
      const status = await allowlists.index(id)
      print(status, () => printFacts(facts(status)))
    }),
  )

  const index = program.command('index').description('membership indexes')
  changeCommand(index, 'build [ids...]', 'rebuild the membership indexes of these allowlists')
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
    session.print(built, () =>
      printRows(built, {
        ...{ ID: 'allowlistId', CUSTOMERS: 'customers', PAGES: 'pages', BYTES: 'sizeBytes' },
        'TOOK MS': ({ lastBuild }) => lastBuild?.tookMs,
      }),
    )
  })
}

async function allFixa({ allowlists }: Session): Promise<string[]> {
  const ids: string[] = []
  for await (const { id, type } of allItems((page) => allowlists.list(page)))
    if (type === 'FIXA') ids.push(id)
  return ids
}
