import { type Command, Option } from 'commander'
import { processEnvironment } from '../../../config/environment.js'
import { loadConfig } from '../../../config/load.js'
import { type Config, SETTINGS } from '../../../config/schema.js'
import { CONFIG_FILE, CONFIG_FILE_ENV } from '../../../config/sources.js'
import { note } from '../../output/print.js'
import { openTarget, type Target } from './target.js'

export interface ConfigOptions {
  config?: string
  [flag: string]: unknown
}

export interface CommonOptions extends ConfigOptions {
  store?: string
  url?: string
  json?: boolean
}

export interface Session extends Target {
  readonly config: Config
  readonly json: boolean
}

const SETTINGS_GROUP = 'Settings:'

/** The option of a setting, with the description of the reference. */
export function settingOption(path: string, placeholder: string): Option {
  const setting = SETTINGS.get(path)!
  const otherwise = setting.default === undefined ? '' : `; default ${setting.default}`
  return new Option(
    `${setting.flag} <${placeholder}>`,
    `${setting.description} (${setting.env}${otherwise})`,
  ).helpGroup(SETTINGS_GROUP)
}

export function configOption(): Option {
  const description = `Configuration file. (${CONFIG_FILE_ENV}; default ${CONFIG_FILE})`
  return new Option('--config <file>', description).helpGroup(SETTINGS_GROUP)
}

/** A command that works on a store or on a server and prints data. */
export function dataCommand(parent: Command, nameAndArguments: string, description: string): Command {
  return ruleCommand(parent, nameAndArguments, description).addOption(configOption())
}

/**
 * The same for commands in which `--config` is the rule of a list: there only CATRACA_CONFIG names the configuration
 * file.
 */
export function ruleCommand(parent: Command, nameAndArguments: string, description: string): Command {
  return parent
    .command(nameAndArguments)
    .description(description)
    .option('--json', 'print JSON')
    .addOption(settingOption('store', 'url').conflicts('url'))
    .addOption(settingOption('client.url', 'url'))
}

/** Reads the configuration with the flags of this command; `flags` maps settings to option names. */
export function configOf(options: ConfigOptions, flags: Record<string, string>): Config {
  const given = Object.entries(flags).map(([path, name]) => [path, options[name] as string | undefined])
  return loadConfig({
    flags: Object.fromEntries(given),
    configFile: options.config,
    env: processEnvironment(),
    cwd: process.cwd(),
    onProblem: (message) => note(`catraca: ${message}`),
  })
}

export async function withSession(
  options: CommonOptions,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const config = configOf(options, { store: 'store', 'client.url': 'url' })
  const target = await openTarget(config, options.store)
  try {
    await work({ ...target, config, json: options.json === true })
  } finally {
    await target.close()
  }
}
