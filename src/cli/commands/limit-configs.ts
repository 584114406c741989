import { type Command, Option } from 'commander'
import { CatracaError, invalid } from '../../core/errors.js'
import type { ConfigAddress } from '../../guards/rate-limit/api.js'
import { ALL_RESOURCES } from '../../guards/rate-limit/levels.js'
import type { Level, LevelConfig, Limits } from '../../guards/rate-limit/types.js'
import { note, printJson, printLine, printTable } from '../output/print.js'
import { addPageOptions, noteNextPage, type PageFlags, pageOf } from './lists.js'
import { type CappedNumber, cappedNumbers, effectiveOf, printResolved } from './support/effective-limits.js'
import { jsonObject } from './support/parse.js'
import { type CommonOptions, dataCommand, withSession } from './support/session.js'

interface AddressFlags extends CommonOptions {
  level: Level
  entity?: string
  identifier?: string
  resource?: string
  allResources?: true
}

interface SetFlags extends AddressFlags {
  limits?: Record<string, unknown>
  onUnavailable?: 'allow' | 'block'
  autoUpdate?: string
  strictVersion?: string
}

interface ListFlags extends PageFlags {
  level: Level
  resource?: string
  scan?: true
}

interface PlanFlags extends CommonOptions {
  prune?: boolean
}

interface ResolveFlags extends CommonOptions {
  entity?: string
  identifier?: string
  resource: string
}

export function addLimitConfigCommands(program: Command): void {
  const config = program.command('config').description('configuration of rate limits')
  levelCommand(config, 'get', 'show the configuration of a level').action(getConfig)
  levelCommand(config, 'set', 'set the configuration of a level; absent fields are inherited')
    .option('--limits <json>', 'limits by name as JSON, or @FILE', jsonObject)
    .addOption(
      new Option('--on-unavailable <policy>', 'what to do when the store does not answer').choices([
        'allow',
        'block',
      ]),
    )
    .addOption(flag('--auto-update <flag>', 'on system: bring an older stored schema to this version'))
    .addOption(flag('--strict-version <flag>', 'on system: refuse a newer stored schema'))
    .action(setConfig)
  levelCommand(config, 'delete', 'delete the configuration of a level').action(deleteConfig)
  dataCommand(config, 'resolve', 'show the effective limits of an entity, and where each field comes from')
    .option('--entity <id>', 'which entity; absent: one that has no configuration')
    .option('--identifier <id>', 'the same')
    .requiredOption('--resource <name>', 'what is limited')
    .action(resolveConfig)
  dataCommand(
    config,
    'capped',
    'list the configurations whose lower capacity caps an inherited burst or refillAmount',
  ).action(listCapped)
  const list = dataCommand(config, 'list', 'list the configurations of a level')
    .addOption(levelOption())
    .option('--resource <name>', 'on the entity level: only configurations of this resource')
    .option(
      '--scan',
      'also find configurations that other programs wrote and that were not used yet; on DynamoDB it scans the table',
    )
  addPageOptions(list).action(listConfigs)
  dataCommand(config, 'plan <file>', 'show what a YAML file of limits would change')
    .option('--prune', 'also show configurations that the file does not name, which --prune deletes')
    .action(planFile)
  dataCommand(config, 'apply <file>', 'show what a YAML file of limits changes, and change it')
    .option('--prune', 'delete configurations that the file does not name')
    .action(applyFile)
}

const flag = (name: string, description: string) => new Option(name, description).choices(['true', 'false'])

const levelOption = () =>
  new Option('--level <level>', 'whose configuration')
    .choices(['system', 'resource', 'entity'])
    .makeOptionMandatory()

function levelCommand(parent: Command, name: string, description: string): Command {
  return dataCommand(parent, name, description)
    .addOption(levelOption())
    .option('--entity <id>', 'entity, on the entity level')
    .option('--identifier <id>', 'the same')
    .addOption(new Option('--resource <name>', 'what is limited').conflicts('allResources'))
    .option('--all-resources', 'the default for all resources, on the system and entity levels')
}

/** On the resource level, either option names the resource. */
function addressOf({
  level,
  entity,
  identifier,
  resource: given,
  allResources,
}: AddressFlags): ConfigAddress {
  const resource = allResources ? ALL_RESOURCES : given
  const named = level === 'resource' ? (resource ?? identifier) : resource
  if (named === undefined) throw invalid('--resource', 'must be given')
  if (level === 'entity' && (entity ?? identifier) === undefined) throw invalid('--entity', 'must be given')
  return { level, ...(entity !== undefined && { entity }), identifier, resource: named }
}

function getConfig(flags: AddressFlags): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    const address = addressOf(flags)
    const config = (await limits.getConfig(address)) ?? notFound(address)
    if (json) printJson(config)
    else printConfig(config)
  })
}

function listConfigs(flags: ListFlags): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    const { level, resource, scan } = flags
    const page = await limits.listConfigs({
      level,
      ...pageOf(flags),
      ...(resource && { resource }),
      ...(scan && { scan }),
    })
    if (json) return printJson(page)
    printTable(
      ['ENTITY', 'RESOURCE', 'LIMITS'],
      page.items.map(({ identifier = '', resource, config }) => [identifier, resource, summaryOf(config)]),
    )
    noteNextPage(page.nextCursor)
  })
}

/** `rpm 60/60s` for each limit, as far as the level states it. */
function summaryOf({ limits, unreadable = {} }: LevelConfig): string {
  const described = Object.entries(limits).map(
    ([name, { capacity = '?', refillPeriodSeconds = '?' }]) => `${name} ${capacity}/${refillPeriodSeconds}s`,
  )
  return [...described, ...Object.values(unreadable)].join(', ')
}

function setConfig(flags: SetFlags): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    const { onUnavailable, autoUpdate, strictVersion } = flags
    const address = addressOf(flags)
    const config: LevelConfig = {
      limits: (flags.limits ?? {}) as Limits,
      ...(onUnavailable && { onUnavailable }),
      ...(autoUpdate && { autoUpdate: autoUpdate === 'true' }),
      ...(strictVersion && { strictVersion: strictVersion === 'true' }),
    }
    await limits.setConfig(address, config)
    const effective = await effectiveOf(limits, address)
    if (json) {
      const stored = (await limits.getConfig(address)) ?? notFound(address)
      printJson({ ...stored, ...(effective && { effective }) })
      return
    }
    printLine(`set ${address.level} ${address.resource}`)
    if (effective === undefined)
      note('the limit is not complete yet: a level must state its capacity and period')
    else printResolved(effective)
  })
}

function deleteConfig(flags: AddressFlags): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    const address = addressOf(flags)
    if (!(await limits.deleteConfig(address))) notFound(address)
    if (json) printJson({ level: address.level, resource: address.resource, deleted: true })
    else printLine(`deleted ${address.level} ${address.resource}`)
  })
}

function notFound({ level, resource }: ConfigAddress): never {
  throw new CatracaError('LIMIT_CONFIG_NOT_FOUND', `the ${level} level has no configuration for ${resource}`)
}

function printConfig({ limits, unreadable = {}, ...others }: LevelConfig): void {
  const fields = ['capacity', 'burst', 'refillAmount', 'refillPeriodSeconds', 'algorithm', 'mode'] as const
  printTable(
    ['LIMIT', ...fields],
    Object.entries(limits).map(([name, limit]) => [name, ...fields.map((field) => limit[field])]),
  )
  for (const [field, value] of Object.entries(others)) printLine(`${field}: ${value}`)
  for (const problem of Object.values(unreadable)) note(problem)
}

function resolveConfig({ entity, identifier, resource, ...flags }: ResolveFlags): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    const resolved = await limits.resolveConfig(entity ?? identifier, resource)
    if (json) printJson(resolved)
    else printResolved(resolved)
  })
}

function listCapped(flags: CommonOptions): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    const items: CappedNumber[] = []
    for await (const found of cappedNumbers(limits)) items.push(...found)
    if (json) return printJson({ items })
    printTable(
      ['ENTITY', 'RESOURCE', 'LIMIT', 'FIELD', 'STATED', 'EFFECTIVE', 'CAPPED BY'],
      items.map(({ identifier = '', resource, limit, field, stated, effective, by }) => {
        return [identifier, resource, limit, field, stated, effective, by]
      }),
    )
  })
}

const planFile = (file: string, flags: PlanFlags) => planOrApply(file, flags, false)
const applyFile = (file: string, flags: PlanFlags) => planOrApply(file, flags, true)

async function planOrApply(file: string, flags: PlanFlags, isApplied: boolean): Promise<void> {
  // Imported here: other commands need no YAML.
  const { apply, describeChange, plan, planPrune, readPlan } = await import('./support/config-plan.js')
  const records = readPlan(file)
  await withSession(flags, async ({ limits, json }) => {
    const pruned = flags.prune ? await planPrune(limits, records) : []
    const changes = [...(await plan(limits, records)), ...pruned]
    if (!json) for (const change of changes) for (const line of describeChange(change)) printLine(line)
    if (isApplied) await apply(limits, changes)
    if (json) printJson({ changes, applied: isApplied })
    else note(summary(changes.length, isApplied))
  })
}

function summary(count: number, isApplied: boolean): string {
  if (count === 0) return 'nothing to change'
  const records = count === 1 ? '1 record' : `${count} records`
  return isApplied ? `${records} changed` : `${records} would be changed; apply changes them`
}
