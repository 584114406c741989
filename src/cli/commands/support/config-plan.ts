import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { CatracaError, invalid, isCatracaError } from '../../../core/errors.js'
import type { ConfigAddress } from '../../../guards/rate-limit/api.js'
import { parseConfigKey, parseLevelConfig } from '../../../guards/rate-limit/level-config.js'
import type { LevelConfig } from '../../../guards/rate-limit/types.js'
import { allItems } from './session.js'
import type { Target } from './target.js'

/** One record that differs between a file and the store. */
export interface PlannedChange {
  action: 'create' | 'change' | 'delete'
  address: ConfigAddress
  before?: LevelConfig
  after?: LevelConfig
}

interface PlannedConfig {
  address: ConfigAddress
  /** Undefined when the file has `null`: the record is to be deleted. */
  config: LevelConfig | undefined
}

const SECTIONS = ['system', 'resources', 'entities']

/**
 * Reads a file of limits, YAML or JSON: `system` and `resources` by resource, `entities` by entity and resource. A
 * record that is `null` is to be deleted. Records that the file does not name stay, unless `--prune` is given.
 */
export function readPlan(file: string): PlannedConfig[] {
  const root = object('the file', load(file))
  for (const name of Object.keys(root)) {
    if (!SECTIONS.includes(name))
      throw invalid(name, `is not a known section; sections are ${SECTIONS.join(', ')}`)
  }
  return [
    ...section(root, 'system').map(([resource, config]) => wanted({ level: 'system', resource }, config)),
    ...section(root, 'resources').map(([resource, config]) =>
      wanted({ level: 'resource', resource }, config),
    ),
    ...section(root, 'entities').flatMap(([identifier, records]) =>
      Object.entries(object(`entities.${identifier}`, records)).map(([resource, config]) =>
        wanted({ level: 'entity', identifier, resource }, config),
      ),
    ),
  ]
}

function load(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw invalid(file, `cannot be read (${(cause as NodeJS.ErrnoException).code})`)
  }
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n', 1)[0]! : String(cause)
    throw invalid(file, `is not YAML: ${reason}`)
  }
}

function object(path: string, value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw invalid(path, 'must be a mapping')
}

const section = (root: Record<string, unknown>, name: string): [string, unknown][] =>
  Object.entries(object(name, root[name] ?? {}))

function wanted(address: ConfigAddress, value: unknown): PlannedConfig {
  const path = [`${address.level}`, address.identifier, address.resource].filter((part) => part !== undefined)
  try {
    const { level } = parseConfigKey(address.level, address.identifier, address.resource)
    return { address, config: value === null ? undefined : parseLevelConfig(level, value) }
  } catch (error) {
    if (!isCatracaError(error, 'INVALID_INPUT')) throw error
    // One file has many records, so the message begins with the place of the mistake.
    throw new CatracaError('INVALID_INPUT', `${path.join(' ')}: ${error.message}`, {
      errors: error.errors ?? [],
    })
  }
}

/** The changes to make, in the order of the file. */
export async function plan(
  limits: Target['limits'],
  records: readonly PlannedConfig[],
): Promise<PlannedChange[]> {
  const changes: PlannedChange[] = []
  for (const { address, config: after } of records) {
    const before = await limits.getConfig(address)
    if (isDeepStrictEqual(before, after)) continue
    changes.push({
      action: before === undefined ? 'create' : after === undefined ? 'delete' : 'change',
      address,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    })
  }
  return changes
}

/** The records in the store that the file does not name, in the order of the store: `--prune` deletes them. */
export async function planPrune(
  limits: Target['limits'],
  records: readonly PlannedConfig[],
): Promise<PlannedChange[]> {
  const named = new Set(records.map(({ address }) => nameOf(address)))
  const changes: PlannedChange[] = []
  for (const level of ['system', 'resource', 'entity'] as const) {
    for await (const listed of allItems((page) => limits.listConfigs({ level, ...page }))) {
      const { config: before, ...address } = listed
      if (!named.has(nameOf(address))) changes.push({ action: 'delete', address, before })
    }
  }
  return changes
}

/** In canonical spelling, as in the store. */
const nameOf = ({ level, identifier, resource }: ConfigAddress): string =>
  JSON.stringify(parseConfigKey(level, level === 'resource' ? undefined : identifier, resource))

export async function apply(limits: Target['limits'], changes: readonly PlannedChange[]): Promise<void> {
  for (const { address, after } of changes) {
    if (after === undefined) await limits.deleteConfig(address)
    else await limits.setConfig(address, after)
  }
}

/** The difference as lines: `-` is removed, `+` is added. */
export function describeChange({ action, address, before, after }: PlannedChange): string[] {
  const { level, identifier, resource } = address
  const head = `${action} ${[level, identifier, resource].filter((part) => part !== undefined).join(' ')}`
  const [old, next] = [flatten(before), flatten(after)]
  const lines: string[] = []
  for (const field of new Set([...old.keys(), ...next.keys()])) {
    if (old.get(field) === next.get(field)) continue
    if (old.has(field)) lines.push(`  - ${field}: ${old.get(field)}`)
    if (next.has(field)) lines.push(`  + ${field}: ${next.get(field)}`)
  }
  return [head, ...lines]
}

function flatten(config: LevelConfig | undefined): Map<string, string> {
  const { limits = {}, ...others } = config ?? {}
  const fields = Object.entries(limits).flatMap(([name, limit]) =>
    Object.entries(limit).map(([field, value]): [string, string] => [`${name}.${field}`, String(value)]),
  )
  return new Map([...fields, ...Object.entries(others).map(([k, v]): [string, string] => [k, String(v)])])
}
