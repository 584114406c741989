import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { systemClock } from '../../core/clock.js'
import { invalid, isCatracaError } from '../../core/errors.js'
import {
  IMPORT_MODES,
  type ImportFormat,
  type ImportMode,
  type ImportOptions,
  type ImportResult,
} from '../../guards/allowlist/types.js'
import { count, customers, note, pick, printFacts, printLine, printRows, visible } from '../output/print.js'
import { startProgress } from '../output/progress.js'
import { formatOfFile, formatOption } from './support/file-format.js'
import { chooseImportId, type ImportSource, importSource } from './support/import-source.js'
import { wholeNumber } from './support/parse.js'
import {
  type CommonOptions,
  changeCommand,
  dataCommand,
  inSession,
  type Session,
  withSession,
} from './support/session.js'
import { onInterrupt } from './support/stop-signal.js'

interface ImportFlags extends CommonOptions {
  format?: ImportFormat
  mode: ImportMode
  importId?: string
  addedBy?: string
  column?: string
  progress: boolean
}

export function addImportCommands(allowlist: Command): void {
  fileOptions(
    changeCommand(
      allowlist,
      'import <id> <file>',
      'import customers from a file, or from standard input (-)',
    ),
  )
    .addOption(
      new Option(
        '--mode <mode>',
        'add: add to the list; replace: the list holds exactly these customers afterwards; remove: remove them',
      )
        .choices(IMPORT_MODES)
        .default('add'),
    )
    .option('--added-by <who>', 'who added the customers, for rows without that field')
    .action(importList)
  fileOptions(changeCommand(allowlist, 'remove <id> [customer]', 'remove a customer, or all those of a file'))
    .option('--file <file>', 'file with the customers to remove, or - for standard input')
    .action(remove)
  dataCommand(allowlist, 'imports <id>', 'show the imports of the last 7 days, the latest first')
    .option('--limit <count>', 'how many at most, up to 100', wholeNumber)
    .action(listImports)
  dataCommand(allowlist, 'import-status <id> <import>', 'show the status of an import').action(showStatus)
}

const fileOptions = (command: Command): Command =>
  command
    .addOption(formatOption())
    .option('--import-id <id>', 'name of the import; the same name resumes it')
    .option('--column <name>', 'CSV only: the column with the ids, by its heading or its number from 1')
    .option('--no-progress', 'do not show the progress')

type RemoveFlags = Omit<ImportFlags, 'mode'> & { file?: string }

async function remove(id: string, customer: string | undefined, flags: RemoveFlags): Promise<void> {
  const { file, ...common } = flags
  if ((customer === undefined) === (file === undefined))
    throw invalid('customer', 'or --file must be given, and not both')
  if (file !== undefined) return importList(id, file, { ...(common as ImportFlags), mode: 'remove' })
  await withSession(flags, async ({ allowlists, print }) => {
    const { removed, ...result } = await allowlists.remove(id, customer!)
    print(
      { removed, ...result },
      `${removed ? 'removed' : 'was not there'}; ${customers(result.customerCount)}`,
    )
  })
}

const listImports = inSession(async ({ allowlists, print }, id: string, flags: { limit?: number }) => {
  const items = await allowlists.imports(id, pick(flags, ['limit']))
  print({ items }, () =>
    printRows(items, {
      ...{ IMPORT: 'importId', MODE: 'mode', STATE: 'state', STARTED: 'startedAt', ADDED: 'added' },
      ...{ REMOVED: 'removed', UNCHANGED: 'unchanged', REJECTED: 'rejected', ERROR: 'error' },
    }),
  )
})

async function importList(id: string, file: string, flags: ImportFlags): Promise<void> {
  const source = await importSource(file)
  const interruption = onInterrupt(['SIGINT', 'SIGTERM'])
  try {
    await withSession(flags, async (session) => {
      const importId = flags.importId ?? (await chooseImportId(session.allowlists, id, flags.mode, source))
      note(`import ${importId} of ${visible(source.name)} into ${id}`)
      const result = await runImport(session, { id, importId, source, flags, signal: interruption.signal })
      session.print(result, () => printResult(result))
    })
  } finally {
    interruption.ignore()
    source.close()
  }
}

interface Task {
  id: string
  importId: string
  source: ImportSource
  flags: ImportFlags
  signal: AbortSignal
}

async function runImport(session: Session, task: Task): Promise<ImportResult> {
  const { id, importId, source, flags, signal } = task
  const progress = await startProgress(source.sizeBytes, flags.progress)
  const options: ImportOptions = {
    mode: flags.mode,
    format: flags.format ?? formatOfFile(source.name) ?? 'csv',
    importId,
    ...pick(flags, ['addedBy', 'column']),
    signal,
    onProgress: progress.update,
  }
  try {
    return await whenFree(session, task, () => session.allowlists.import(id, source.open(), options))
  } catch (error) {
    progress.stop()
    await explainResume(session, task)
    throw error
  } finally {
    progress.stop()
  }
}

const ASK_AGAIN_MS = 500

/**
 * A killed process holds its import until the lease expires. When the command is run again, it waits that long, and
 * no longer.
 */
async function whenFree<T>(
  { config }: Session,
  { source, signal }: Task,
  work: () => Promise<T>,
): Promise<T> {
  const giveUpAt = systemClock.now() + config.import.leaseMs + 2 * ASK_AGAIN_MS
  for (let told = false; ; told = true) {
    try {
      return await work()
    } catch (error) {
      const mayWait = isCatracaError(error, 'IMPORT_IN_PROGRESS') && source.identity !== undefined
      if (!mayWait || signal.aborted || systemClock.now() > giveUpAt) throw error
      if (!told) note('another process runs this import, or died during it: waiting for its lease to expire')
      await sleep(ASK_AGAIN_MS)
    }
  }
}

async function explainResume({ allowlists }: Session, { id, importId, source }: Task): Promise<void> {
  // Without a status there is nothing to resume, or the status cannot be read.
  const status = await allowlists.importStatus(id, importId).catch(() => undefined)
  if (status === undefined || status.state === 'completed') return
  const how =
    source.identity === undefined
      ? `give the same input again with --import-id ${importId}`
      : 'run the same command again'
  note(`import ${importId}: ${count(status.rowsAcknowledged)} rows are stored; to continue, ${how}`)
}

function printResult(result: ImportResult): void {
  const { added, unchanged, removed, rejected, rowsWithExtraCells, firstErrors, customerCount } = result
  printLine(
    `${count(added)} added, ${count(unchanged)} unchanged, ${count(removed)} removed, ` +
      `${count(rejected)} rejected; the list holds ${customers(customerCount)}`,
  )
  if (rowsWithExtraCells !== undefined) note(extraCellsText(rowsWithExtraCells))
  for (const { line, message } of firstErrors) note(`  line ${count(line)}: ${visible(message)}`)
}

const extraCellsText = (rows: number): string =>
  `${count(rows)} rows have more cells than the first row; these cells were not imported. Is a separator inside a value?`

const STATUS_FIELDS = [
  ...(['importId', 'allowlistId', 'mode', 'state', 'error', 'rowsAcknowledged', 'added'] as const),
  ...(['unchanged', 'removed', 'rejected', 'rowsWithExtraCells', 'startedAt', 'updatedAt'] as const),
]

const showStatus = inSession(async ({ allowlists, print }, id: string, importId: string) => {
  const status = await allowlists.importStatus(id, importId)
  print(status, () => {
    printFacts(pick(status, STATUS_FIELDS))
    for (const { line, message } of status.firstErrors)
      printLine(`  line ${count(line)}: ${visible(message)}`)
  })
})
