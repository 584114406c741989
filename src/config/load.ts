import { resolve } from 'node:path'
import { CatracaError } from '../core/errors.js'
import { DYNAMODB_PROFILES, type DynamodbProfile } from '../engines/dynamodb/defaults.js'
import { type Config, isSetting, type NamedSetting, SCHEMA, SETTINGS } from './schema.js'
import { fileSecret, fixedSecret } from './secret.js'
import {
  CONFIG_FILE_ENV,
  emptyFindings,
  kubernetesHint,
  type Problem,
  readEnvironment,
  readFile,
  readFlags,
  type SettingSource,
} from './sources.js'
import { WrongValue } from './value-kinds.js'

export interface LoadOptions {
  /** Values of flags, by the path of the setting; `undefined` where the flag was not given. */
  flags?: Readonly<Record<string, string | undefined>>
  /** The file that `--config` names. */
  configFile?: string | undefined
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** Called when the file of a secret becomes invalid later; the last valid value stays in use. */
  onProblem?: (message: string) => void
}

/** Flags win over the environment, the environment over the file, the file over the defaults. */
export function loadConfig(options: LoadOptions): Config {
  const findings = emptyFindings()
  readFlags(findings, options.flags ?? {})
  readEnvironment(findings, options.env)
  readFile(findings, options.configFile ?? options.env[CONFIG_FILE_ENV], options.cwd)

  const { found, problems } = findings
  const values = new Map<string, unknown>()
  for (const [path, setting] of SETTINGS) {
    // All sources are validated, not only the one that wins, so that a wrong setting is found now.
    const readings = (found.get(path) ?? []).map((reading) => read(setting, reading, options, problems))
    values.set(path, readings.length === 0 ? setting.default : readings[0])
  }
  if (problems.length > 0) throw configInvalid(problems)
  for (const [path, value] of profileDefaults(values)) if (!found.has(path)) values.set(path, value)
  if (found.get('store')?.[0]?.kind === 'flag') {
    for (const capability of Object.keys(SCHEMA.stores)) values.set(`stores.${capability}`, undefined)
  }
  return build(SCHEMA, '', values) as Config
}

/** The store URL of a capability: its own, or the common one. */
export function storeOf(config: Config, capability: keyof Config['stores']): string {
  return config.stores[capability] ?? config.store
}

/** What the profile of a DynamoDB store sets, by path. */
function profileDefaults(values: ReadonlyMap<string, unknown>): [string, unknown][] {
  const store = String(values.get('stores.allowlists') ?? values.get('store'))
  if (!store.startsWith('dynamodb:')) return []
  const groups = DYNAMODB_PROFILES[values.get('dynamodb.profile') as DynamodbProfile]
  return Object.entries(groups).flatMap(([group, settings]) =>
    Object.entries(settings).map(([name, value]): [string, unknown] => [`${group}.${name}`, value]),
  )
}

function read(
  setting: NamedSetting,
  found: SettingSource,
  options: LoadOptions,
  problems: Problem[],
): unknown {
  try {
    if (found.inFile) {
      if (typeof found.value !== 'string' || found.value === '')
        throw new WrongValue('must be the name of a file')
      const path = resolve(options.cwd, found.value)
      return fileSecret(path, setting.kind, (message) =>
        options.onProblem?.(`${found.source} ${message}; the last good value stays in use`),
      )
    }
    const { kind } = setting
    const value = found.as === 'text' ? kind.fromText(found.value as string) : kind.fromJson(found.value)
    return setting.secret ? fixedSecret(value) : value
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error
    const hint = found.kind === 'environment' ? kubernetesHint(setting.env, found.value) : ''
    problems.push({ kind: found.kind, source: found.source, message: error.message + hint })
    return undefined
  }
}

function configInvalid(problems: Problem[]): CatracaError {
  const [first, ...others] = problems
  const line = `${first!.source} ${first!.message}`
  return new CatracaError('CONFIG_INVALID', line, {
    ...(others.length > 0 && {
      errors: others.map(({ source, message }) => ({ path: source, message })),
    }),
    facts: { source: first!.kind },
  })
}

function build(schema: object, prefix: string, values: Map<string, unknown>): object {
  const entries = Object.entries(schema).map(([name, entry]) => [
    name,
    isSetting(entry) ? values.get(prefix + name) : build(entry, `${prefix}${name}.`, values),
  ])
  return Object.freeze(Object.fromEntries(entries))
}
