import { type Command, InvalidArgumentError, Option } from 'commander'
import type { SubjectQuery, UsageQuery } from '../../guards/rate-limit/api.js'
import type { AcquireRequest, LimitStatus, ResourceUsage, UsageEntry } from '../../guards/rate-limit/types.js'
import { EXIT, Exit } from '../output/failure.js'
import { note, pick, printLine, printRows } from '../output/print.js'
import { addListingOptions, firstListed, LISTING, printListing } from './support/listing.js'
import { jsonObject } from './support/parse.js'
import { dataCommand, inSession, withReason } from './support/session.js'

export function addLimitCommands(program: Command): void {
  const limits = program.command('limits').description('usage of rate limits')
  subjectCommand(limits, 'status', 'show what is left of the limits, without consuming')
    .addOption(limitsOption())
    .action(showStatus)
  withReason(subjectCommand(limits, 'reset', 'reset the limits of an entity')).action(reset)
  subjectCommand(limits, 'acquire', 'consume from all limits of a resource, or from none')
    .option('--consume <costs>', 'cost by limit, such as rpm=1,tpm=500; 1 of each when absent', costs)
    .addOption(limitsOption())
    .option('--exit-code', 'exit with 3 when it is denied')
    .action(acquire)
  addListingOptions(
    dataCommand(
      limits,
      'list',
      'show the entities with a recorded use, and what is left of their limits',
    ).option('--resource <name>', 'only the use of this resource'),
  ).action(listSubjects)
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
  const rows = Object.entries(limits).map(([name, status]) => ({ name, ...status }))
  printRows(rows, { LIMIT: 'name', HOLDS: 'limit', LEFT: 'remaining', 'RESET MS': 'resetMs' })
}

const showStatus = inSession(async ({ limits, print }, flags: AcquireRequest) => {
  const status = await limits.status(flags.entity, flags.resource, pick(flags, ['limits']))
  print(status, () => printStatuses(status.limits))
})

const listSubjects = inSession(async ({ limits, print }, flags: SubjectQuery) => {
  const query = pick(flags, [...LISTING, 'resource'])
  const page = await firstListed((asked) => limits.subjects(asked), query)
  printListing(print, page, {
    ...{ ENTITY: 'entity', RESOURCE: 'resource' },
    LEFT: ({ limits = {} }) =>
      Object.entries(limits)
        .map(([name, { remaining, limit }]) => `${name} ${remaining}/${limit}`)
        .join(', '),
  })
})

const reset = inSession(async ({ limits, print }, { entity, resource }: AcquireRequest) => {
  await limits.reset(entity, resource)
  print({ entity, resource, reset: true }, `reset ${entity} ${resource}`)
})

const acquire = inSession(async ({ limits, print }, flags: AcquireRequest & { exitCode?: boolean }) => {
  const answer = await limits.acquire(pick(flags, ['entity', 'resource', 'consume', 'limits']))
  print({ ...JSON.parse(JSON.stringify(answer)), policies: undefined }, () => {
    printStatuses(answer.limits)
    for (const { entity, limit, retryAfterMs } of answer.allowed ? [] : answer.violations) {
      note(`${limit} of ${entity} is used up; try again in ${retryAfterMs} ms`)
    }
    printLine(answer.allowed ? `allowed, lease ${answer.leaseId}` : 'denied')
  })
  if (!answer.allowed && flags.exitCode) throw new Exit(EXIT.denied)
})

const showUsage = inSession(
  async ({ limits, print }, flags: UsageQuery & { entity?: string; resource: string }) => {
    const { entity, resource } = flags
    const query = pick(flags, ['step', 'from', 'to'])
    const usage: Partial<ResourceUsage> & { items: UsageEntry[] } =
      entity === undefined
        ? await limits.resourceUsage(resource, query)
        : await limits.usage(entity, resource, query)
    const counts = { LIMIT: 'limit', ADMITTED: 'admitted', DENIED: 'denied' } as const
    print(usage, () => {
      printRows(usage.items, { START: 'start', ...counts })
      if (usage.entities === undefined || usage.entities.length === 0) return
      printLine('')
      printRows(usage.entities, { ENTITY: 'entity', ...counts })
    })
  },
)
