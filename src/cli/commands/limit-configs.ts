import { type Command, Option } from 'commander'
import { CatracaError, invalid } from '../../core/errors.js'
import type { ConfigAddress, ConfigQuery, GivenAddress } from '../../guards/rate-limit/api.js'
import { ALL_RESOURCES } from '../../guards/rate-limit/levels.js'
import {
  type LevelConfig,
  LIMITS_ON_UNAVAILABLE,
  type Limits,
  type LimitsOnUnavailable,
} from '../../guards/rate-limit/types.js'
import { note, pick, printLine, printRows, printTable } from '../output/print.js'
import { cappedNumbers, effectiveOf, printResolved } from './support/effective-limits.js'
import { jsonObject } from './support/parse.js'
import { addPageOptions, dataCommand, inSession, withReason } from './support/session.js'

type AddressFlags = Omit<GivenAddress, 'resource'> & { resource?: string; allResources?: true }

interface SetFlags extends AddressFlags {
  limits?: Limits
  onUnavailable?: LimitsOnUnavailable
  autoUpdate?: string
  strictVersion?: string
}

export function addLimitConfigCommands(program: Command): Command {
  const config = program
    .command('config')
    .description('configuration of rate limits, and of lists, waves and entities as a file')
  levelCommand(config, 'get', 'show the configuration of a level').action(getConfig)
  withReason(levelCommand(config, 'set', 'set the configuration of a level; absent fields are inherited'))
    .option('--limits <json>', 'limits by name as JSON, or @FILE', jsonObject)
    .addOption(
      new Option('--on-unavailable <policy>', 'what to do when the store does not answer').choices(
        LIMITS_ON_UNAVAILABLE,
      ),
    )
    .addOption(flag('--auto-update <flag>', 'on system: bring an older stored schema to this version'))
    .addOption(flag('--strict-version <flag>', 'on system: refuse a newer stored schema'))
    .action(setConfig)
  withReason(levelCommand(config, 'delete', 'delete the configuration of a level')).action(deleteConfig)
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
  return config
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
function addressOf({ level, entity, identifier, ...flags }: AddressFlags): ConfigAddress {
  const resource = flags.allResources ? ALL_RESOURCES : flags.resource
  const named = level === 'resource' ? (resource ?? identifier) : resource
  if (named === undefined) throw invalid('--resource', 'must be given')
  if (level === 'entity' && (entity ?? identifier) === undefined) throw invalid('--entity', 'must be given')
  // The library refuses what does not fit together.
  return { level, entity, identifier, resource: named } as ConfigAddress
}

const getConfig = inSession(async ({ limits, print }, flags: AddressFlags) => {
  const address = addressOf(flags)
  const config = (await limits.getConfig(address)) ?? notFound(address)
  print(config, () => printConfig(config))
})

const listConfigs = inSession(async ({ limits, printPage }, flags: ConfigQuery) =>
  printPage(await limits.listConfigs(pick(flags, ['level', 'limit', 'cursor', 'resource', 'scan'])), {
    ENTITY: ({ identifier = '' }) => identifier,
    RESOURCE: 'resource',
    LIMITS: ({ config }) => summaryOf(config),
  }),
)

/** `rpm 60/60s` for each limit, as far as the level states it. */
function summaryOf({ limits, unreadable = {} }: LevelConfig): string {
  const described = Object.entries(limits).map(
    ([name, { capacity = '?', refillPeriodSeconds = '?' }]) => `${name} ${capacity}/${refillPeriodSeconds}s`,
  )
  return [...described, ...Object.values(unreadable)].join(', ')
}

const setConfig = inSession(async ({ limits, json, print }, flags: SetFlags) => {
  const { autoUpdate, strictVersion } = flags
  const address = addressOf(flags)
  await limits.setConfig(address, {
    limits: flags.limits ?? {},
    ...pick(flags, ['onUnavailable']),
    ...(autoUpdate && { autoUpdate: autoUpdate === 'true' }),
    ...(strictVersion && { strictVersion: strictVersion === 'true' }),
  })
  const effective = await effectiveOf(limits, address)
  const stored = json ? ((await limits.getConfig(address)) ?? notFound(address)) : {}
  print({ ...stored, ...(effective && { effective }) }, () => {
    printLine(`set ${address.level} ${address.resource}`)
    if (effective === undefined)
      note('the limit is not complete yet: a level must state its capacity and period')
    else printResolved(effective)
  })
})

const deleteConfig = inSession(async ({ limits, print }, flags: AddressFlags) => {
  const address = addressOf(flags)
  if (!(await limits.deleteConfig(address))) notFound(address)
  const { level, resource } = address
  print({ level, resource, deleted: true }, `deleted ${level} ${resource}`)
})

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

const resolveConfig = inSession(async ({ limits, print }, flags: GivenAddress) => {
  const resolved = await limits.resolveConfig(flags.entity ?? flags.identifier, flags.resource)
  print(resolved, () => printResolved(resolved))
})

const listCapped = inSession(async ({ limits, print }) => {
  const items = await cappedNumbers(limits)
  print({ items }, () =>
    printRows(items, {
      ...{ ENTITY: ({ identifier = '' }) => identifier, RESOURCE: 'resource', LIMIT: 'limit' },
      ...{ FIELD: 'field', STATED: 'stated', EFFECTIVE: 'effective', 'CAPPED BY': 'by' },
    }),
  )
})
