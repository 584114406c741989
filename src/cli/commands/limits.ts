import { type Command, InvalidArgumentError, Option } from 'commander'
import type { LimitStatus, Limits, ResourceUsage, UsageEntry } from '../../guards/rate-limit/types.js'
import { EXIT, Exit } from '../output/failure.js'
import { note, printJson, printLine, printTable } from '../output/print.js'
import { jsonObject } from './support/parse.js'
import { type CommonOptions, dataCommand, withSession } from './support/session.js'

interface SubjectFlags extends CommonOptions {
  entity: string
  resource: string
  /** For `status` and `acquire`. */
  limits?: Limits
}

interface AcquireFlags extends SubjectFlags {
  consume?: Record<string, number>
  exitCode?: boolean
}

interface UsageFlags extends CommonOptions {
  entity?: string
  resource: string
  step?: 'hour' | 'day'
  from?: string
  to?: string
}

export function addLimitCommands(program: Command): void {
  const limits = program.command('limits').description('usage of rate limits')
  subjectCommand(limits, 'status', 'show what is left of the limits, without consuming')
    .addOption(limitsOption())
    .action(showStatus)
  subjectCommand(limits, 'reset', 'reset the limits of an entity').action(reset)
  subjectCommand(limits, 'acquire', 'consume from all limits of a resource, or from none')
    .option('--consume <costs>', 'cost by limit, such as rpm=1,tpm=500; 1 of each when absent', costs)
    .addOption(limitsOption())
    .option('--exit-code', 'exit with 3 when it is denied')
    .action(acquire)
  dataCommand(limits, 'usage', 'show the cost admitted and denied of a resource, and its heaviest entities')
    .requiredOption('--resource <name>', 'what is limited')
    .option('--entity <id>', 'only this entity, for hours in which it was among the heaviest')
    .option('--step <step>', 'hour or day', 'hour')
    .option('--from <time>', 'first hour or day, ISO 8601; the last day, or month, when absent')
    .option('--to <time>', 'end, ISO 8601')
    .action(showUsage)
}

function subjectCommand(parent: Command, name: string, description: string): Command {
  return dataCommand(parent, name, description)
    .requiredOption('--entity <id>', 'who is limited')
    .requiredOption('--resource <name>', 'what is limited')
}

const limitsOption = () =>
  new Option(
    '--limits <json>',
    'limits for this call by name as JSON, or @FILE; they override the configured ones (on a server: see `limits.inline`)',
  ).argParser(jsonObject)

/** `rpm=1,tpm=500`. */
function costs(text: string): Record<string, number> {
  const parts = text.split(',').map((part) => /^\s*([^=\s]+)=(\d{1,15})\s*$/.exec(part))
  if (parts.includes(null)) throw new InvalidArgumentError('Give costs by limit, such as rpm=1,tpm=500.')
  return Object.fromEntries(parts.map((part) => [part![1]!, Number(part![2])]))
}

function printStatuses(limits: Record<string, LimitStatus>): void {
  printTable(
    ['LIMIT', 'HOLDS', 'LEFT', 'RESET MS'],
    Object.entries(limits).map(([name, { limit, remaining, resetMs }]) => [name, limit, remaining, resetMs]),
  )
}

function showStatus({ entity, resource, limits: given, ...flags }: SubjectFlags): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    const status = await limits.status(entity, resource, given && { limits: given })
    if (json) printJson(status)
    else printStatuses(status.limits)
  })
}

function reset({ entity, resource, ...flags }: SubjectFlags): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    await limits.reset(entity, resource)
    if (json) printJson({ entity, resource, reset: true })
    else printLine(`reset ${entity} ${resource}`)
  })
}

function acquire(given: AcquireFlags): Promise<void> {
  const { entity, resource, consume, limits: ofCall, exitCode, ...flags } = given
  return withSession(flags, async ({ limits, json }) => {
    const answer = await limits.acquire({
      ...{ entity, resource },
      ...(consume && { consume }),
      ...(ofCall && { limits: ofCall }),
    })
    if (json) {
      const { policies: _, ...told } = JSON.parse(JSON.stringify(answer)) as typeof answer
      printJson(told)
    } else {
      printStatuses(answer.limits)
      for (const { entity: who, limit, retryAfterMs } of answer.allowed ? [] : answer.violations) {
        note(`${limit} of ${who} is used up; try again in ${retryAfterMs} ms`)
      }
      printLine(answer.allowed ? `allowed, lease ${answer.leaseId}` : 'denied')
    }
    if (!answer.allowed && exitCode) throw new Exit(EXIT.denied)
  })
}

function showUsage({ entity, resource, step, from, to, ...flags }: UsageFlags): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    const query = { ...(step && { step }), ...(from && { from }), ...(to && { to }) }
    const usage: Partial<ResourceUsage> & { items: UsageEntry[] } =
      entity === undefined
        ? await limits.resourceUsage(resource, query)
        : await limits.usage(entity, resource, query)
    if (json) return printJson(usage)
    printTable(
      ['START', 'LIMIT', 'ADMITTED', 'DENIED'],
      usage.items.map(({ start, limit, admitted, denied }) => [start, limit, admitted, denied]),
    )
    if (usage.entities === undefined || usage.entities.length === 0) return
    printLine('')
    printTable(
      ['ENTITY', 'LIMIT', 'ADMITTED', 'DENIED'],
      usage.entities.map(({ entity, limit, admitted, denied }) => [entity, limit, admitted, denied]),
    )
  })
}
