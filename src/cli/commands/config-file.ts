import { readFileSync, writeFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { CatracaError, invalid } from '../../core/errors.js'
import { KINDS, type KindName, type PlannedChange } from '../config-file/kind.js'
import { EXIT, Exit } from '../output/failure.js'
import { note, printJson, printLine, visible } from '../output/print.js'
import { type CommonOptions, dataCommand, inSession, type Session, withSession } from './support/session.js'

interface ExportFlags {
  kinds: readonly KindName[]
  out?: string
  scan?: true
}

interface PlanFlags extends CommonOptions {
  prune?: true
  exitCode?: true
  out?: string
}

interface ApplyFlags extends CommonOptions {
  prune?: true
  withMembers?: true
  plan?: string
}

/** Lists, waves, limits and parents of entities as one file. */
export function addConfigFileCommands(config: Command): void {
  dataCommand(config, 'export', 'write lists (without members), waves, limits and entities as one YAML file')
    .addOption(
      new Option('--kinds <kinds>', `which of ${KINDS.join(', ')}`).argParser(kindsOf).default(KINDS, 'all'),
    )
    .option('--out <file>', 'write to this file instead of standard output')
    .option(
      '--scan',
      'also find limits and parents that other programs or older versions wrote; on DynamoDB it scans the table',
    )
    .action(inSession(exportFile))
  dataCommand(
    config,
    'plan <file>',
    'show what a YAML file of lists, waves, limits and entities would change',
  )
    .option('--prune', 'also show what the file does not name, which --prune deletes')
    .option('--exit-code', 'exit with 3 when there is a difference')
    .option('--out <file>', 'write the plan to this file, for `config apply --plan`')
    .action(planFile)
  dataCommand(config, 'apply [file]', 'show what a YAML file changes, and change it')
    .option('--prune', 'delete what the file does not name, in the kinds of which it has a section')
    .option('--with-members', 'also delete lists that have members')
    .option('--plan <file>', 'make the changes of this plan, if nothing of it was changed since')
    .action(applyFile)
  config
    .command('schema')
    .description('print the JSON schema of such files, for editors')
    .option('--json', 'the same: a schema is JSON')
    .action(async () => {
      const { configFileSchema } = await import('../../wire/config-file.js')
      printJson(configFileSchema())
    })
}

function kindsOf(text: string): readonly KindName[] {
  const names = text.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !(KINDS as readonly string[]).includes(name))
  if (wrong !== undefined)
    throw new InvalidArgumentError(`There is no ${wrong}: choose of ${KINDS.join(', ')}.`)
  return names as KindName[]
}

async function exportFile(session: Session, { kinds, out, scan }: ExportFlags): Promise<void> {
  // Imported here and below: other commands need no YAML.
  const { writeDocument } = await import('../config-file/document.js')
  // The scan of one level finds the records of all.
  if (scan) await session.limits.listConfigs({ level: 'entity', limit: 1, scan })
  const text = await writeDocument(session, kinds, (remark) => note(`left out: ${visible(remark)}`))
  if (out === undefined) process.stdout.write(text)
  else save(out, text)
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new CatracaError('INTERNAL', `cannot write ${file} (${code})`, { cause })
  }
}

async function planFile(file: string, flags: PlanFlags): Promise<void> {
  const { readDocument } = await import('../config-file/document.js')
  const { planChanges } = await import('../config-file/plan.js')
  const document = readDocument(file)
  await withSession(flags, async (session) => {
    const changes = await planChanges(session, document, flags.prune === true)
    if (flags.out !== undefined) save(flags.out, `${JSON.stringify({ changes }, null, 2)}\n`)
    await show(session, changes)
    session.print({ changes, applied: false }, () =>
      note(summary(changes.length, 'would be changed; apply changes them')),
    )
    if (flags.exitCode && changes.length > 0) throw new Exit(EXIT.denied)
  })
}

async function applyFile(file: string | undefined, flags: ApplyFlags): Promise<void> {
  if ((file === undefined) === (flags.plan === undefined))
    throw invalid('FILE', 'or --plan must be given, not both')
  const { readDocument } = await import('../config-file/document.js')
  const { applyChanges, planChanges, refuseMembers } = await import('../config-file/plan.js')
  const document = file === undefined ? undefined : readDocument(file)
  const planned = flags.plan === undefined ? undefined : readChanges(flags.plan)
  await withSession(flags, async (session) => {
    const changes = planned ?? (await planChanges(session, document!, flags.prune === true))
    await show(session, changes)
    if (!flags.withMembers) await refuseMembers(session, changes)
    await applyChanges(session, changes, (set, count) => session.json || note(`${set}: ${count} changed`))
    session.print({ changes, applied: true }, () => note(summary(changes.length, 'changed')))
  })
}

/** A plan that was written by `config plan --out`. What it wants is checked when it is made. */
function readChanges(file: string): PlannedChange[] {
  try {
    const { changes } = JSON.parse(readFileSync(file, 'utf8')) as { changes: PlannedChange[] }
    if (!changes.every(({ kind, address }) => KINDS.includes(kind) && typeof address === 'object')) throw file
    return changes
  } catch {
    throw invalid(file, 'is not a plan that `catraca config plan --out` wrote')
  }
}

async function show({ json }: Session, changes: readonly PlannedChange[]): Promise<void> {
  if (json) return
  const { describeChange } = await import('../config-file/plan.js')
  for (const change of changes) for (const line of describeChange(change)) printLine(visible(line))
}

function summary(count: number, done: string): string {
  if (count === 0) return 'nothing to change'
  return `${count === 1 ? '1 record' : `${count} records`} ${done}`
}
