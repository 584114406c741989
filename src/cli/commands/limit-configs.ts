import { type Command, Option } from 'commander'
import { CatracaError, invalid } from '../../errors.js'
import type { ConfigAddress } from '../../rate-limit/api.js'
import type { Level, LevelConfig, Limits, ResolvedConfig } from '../../rate-limit/types.js'
import { note, printJson, printLine, printTable } from '../output.js'
import { jsonObject } from '../parse.js'
import { type CommonOptions, dataCommand, withSession } from '../session.js'
import { addPageOptions, noteNextPage, type PageFlags, pageOf } from './lists.js'

interface AddressFlags extends CommonOptions {
  level: Level
  identifier?: string
  resource?: string
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
}

interface PlanFlags extends CommonOptions {
  prune?: boolean
}

interface ResolveFlags extends CommonOptions {
  identifier: string
  resource: string
}

export function addLimitConfigCommands(program: Command): void {
  const config = program.command('config').description('configuration of rate limits')
  levelCommand(config, 'get', 'show what a level says').action(getConfig)
  levelCommand(config, 'set', 'set what a level says; fields that are absent are inherited')
    .option('--limits <json>', 'limits by name as JSON, or @FILE', jsonObject)
    .addOption(
      new Option('--on-unavailable <policy>', 'when the store does not answer').choices(['allow', 'block']),
    )
    .addOption(flag('--auto-update <flag>', 'on system: bring an older stored schema to this version'))
    .addOption(flag('--strict-version <flag>', 'on system: refuse a newer stored schema'))
    .action(setConfig)
  levelCommand(config, 'delete', 'have a level say nothing').action(deleteConfig)
  dataCommand(config, 'resolve', 'show the effective limits of an entity, and where each field comes from')
    .requiredOption('--identifier <id>', 'the entity')
    .requiredOption('--resource <name>', 'what is limited')
    .action(resolveConfig)
  const list = dataCommand(config, 'list', 'show all that a level says')
    .addOption(levelOption())
    .option('--resource <name>', 'on the entity level: only what is said of this resource')
  addPageOptions(list).action(listConfigs)
  dataCommand(config, 'plan <file>', 'show what a YAML file of limits would change')
    .option('--prune', 'also what the file does not name, which would be deleted')
    .action(planFile)
  dataCommand(config, 'apply <file>', 'show what a YAML file of limits changes, and change it')
    .option('--prune', 'delete what the file does not name')
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
    .option('--identifier <id>', 'the entity, on the entity level')
    .option('--resource <name>', 'what is limited')
}

/** On the resource level either option names the resource. */
function addressOf({ level, identifier, resource }: AddressFlags): ConfigAddress {
  const named = level === 'resource' ? (resource ?? identifier) : resource
  if (named === undefined) throw invalid('--resource', 'must be given')
  if (level === 'entity' && identifier === undefined) {
    throw invalid('--identifier', 'must be given: the entity')
  }
  return { level, identifier, resource: named }
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
    const { level, resource } = flags
    const page = await limits.listConfigs({ level, ...pageOf(flags), ...(resource && { resource }) })
    if (json) return printJson(page)
    printTable(
      ['ENTITY', 'RESOURCE', 'LIMITS'],
      page.items.map(({ identifier = '', resource, config }) => [identifier, resource, summaryOf(config)]),
    )
    noteNextPage(page.nextCursor)
  })
}

/** `rpm 60/60s` for each limit, as far as the level says it. */
function summaryOf({ limits }: LevelConfig): string {
  const described = Object.entries(limits).map(
    ([name, { capacity = '?', refillPeriodSeconds = '?' }]) => `${name} ${capacity}/${refillPeriodSeconds}s`,
  )
  return described.join(', ')
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
    if (json) printJson((await limits.getConfig(address)) ?? notFound(address))
    else printLine(`set ${address.level} ${address.resource}`)
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
  throw new CatracaError('LIMIT_CONFIG_NOT_FOUND', `the ${level} level says nothing of ${resource}`)
}

function printConfig({ limits, ...others }: LevelConfig): void {
  const fields = ['capacity', 'burst', 'refillAmount', 'refillPeriodSeconds', 'algorithm', 'mode'] as const
  printTable(
    ['LIMIT', ...fields],
    Object.entries(limits).map(([name, limit]) => [name, ...fields.map((field) => limit[field])]),
  )
  for (const [field, value] of Object.entries(others)) printLine(`${field}: ${value}`)
}

function resolveConfig({ identifier, resource, ...flags }: ResolveFlags): Promise<void> {
  return withSession(flags, async ({ limits, json }) => {
    const resolved = await limits.resolveConfig(identifier, resource)
    if (json) printJson(resolved)
    else printResolved(resolved)
  })
}

function printResolved({ limits, levels, onUnavailable, autoUpdate, strictVersion }: ResolvedConfig): void {
  const rows = Object.entries(limits).flatMap(([name, limit]) =>
    Object.entries(limit).map(([field, value]) => [
      `${name}.${field}`,
      String(value),
      levels.limits[name]![field as keyof typeof limit],
    ]),
  )
  printTable(
    ['FIELD', 'VALUE', 'FROM'],
    [
      ...rows,
      ['onUnavailable', onUnavailable, levels.onUnavailable],
      ['autoUpdate', String(autoUpdate), levels.autoUpdate],
      ['strictVersion', String(strictVersion), levels.strictVersion],
    ],
  )
}

const planFile = (file: string, flags: PlanFlags) => planOrApply(file, flags, false)
const applyFile = (file: string, flags: PlanFlags) => planOrApply(file, flags, true)

async function planOrApply(file: string, flags: PlanFlags, isApplied: boolean): Promise<void> {
  // Only here: other commands need no YAML.
  const { apply, describeChange, plan, planPrune, readPlan } = await import('../config-plan.js')
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
