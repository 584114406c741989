import { type Command, Option } from 'commander'
import { processEnvironment } from '../../../config/environment.js'
import { loadConfig, storeOf } from '../../../config/load.js'
import { type Config, SETTINGS } from '../../../config/schema.js'
import { CONFIG_FILE, CONFIG_FILE_ENV } from '../../../config/sources.js'
import type { Page, PageRequest } from '../../../guards/allowlist/types.js'
import { type Columns, note, pick, printResult, printRows } from '../../output/print.js'
import { wholeNumber } from './parse.js'
import { openTarget, type Target } from './target.js'

export interface ConfigOptions {
  config?: string
  [flag: string]: unknown
}

export interface CommonOptions extends ConfigOptions {
  reason?: string
  store?: string
  url?: string
  json?: boolean
}

export interface Session extends Target {
  readonly config: Config
  readonly json: boolean
  /** Prints a result: as JSON with `--json`, otherwise as text. */
  print(value: unknown, text: string | (() => void)): void
  printPage<T>(page: Page<T>, columns: Columns<T>): void
}

const SETTINGS_GROUP = 'Settings:'
/** The longest page that a store or server returns. */
const MOST_ITEMS = 1000

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

/** A data command whose changes are in the audit trail. */
export const changeCommand: typeof dataCommand = (...args) => withReason(dataCommand(...args))

export const withReason = (command: Command): Command =>
  command.option('--reason <text>', 'why, for the audit trail; up to 500 characters')

/** A command that works on the store itself and prints data. */
export function storeCommand(parent: Command, nameAndArguments: string, description: string): Command {
  return parent
    .command(nameAndArguments)
    .description(description)
    .option('--json', 'print JSON')
    .addOption(settingOption('store', 'url'))
    .addOption(configOption())
}

/** The store of such a command. */
export const storeUrlOf = (flags: ConfigOptions): string =>
  storeOf(configOf(flags, { store: 'store' }), 'allowlists')

/** The flags of a command whose result comes in pages. */
export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <count>', 'how many at most, up to 1000', wholeNumber)
    .option('--cursor <cursor>', 'continue after a page: the cursor that it printed')
}

export const pageOf = (flags: PageRequest): PageRequest => pick(flags, ['limit', 'cursor'])

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
  work: (session: Session) => Promise<unknown>,
): Promise<void> {
  const config = configOf(options, { store: 'store', 'client.url': 'url' })
  const target = await openTarget(config, options.store, options.reason)
  const json = options.json === true
  const print: Session['print'] = (value, text) => printResult(json, value, text)
  const printPage: Session['printPage'] = (page, columns) =>
    print(page, () => {
      printRows(page.items, columns)
      if (page.nextCursor !== undefined) note(`there is more: --cursor ${page.nextCursor}`)
    })
  try {
    await work({ ...target, config, json, print, printPage })
  } finally {
    await target.close()
  }
}

/** The action of a command that is done in a session: it gets the session before its arguments and flags. */
export function inSession<A extends unknown[]>(
  work: (session: Session, ...args: A) => Promise<unknown>,
): (...args: A) => Promise<void> {
  // Commander passes the flags before the command itself, which is the last argument.
  return (...args) => withSession(args.at(-2) as CommonOptions, (session) => work(session, ...args))
}

/** Every item of a list that is read in pages. */
export async function* allItems<T>(read: (page: PageRequest) => Promise<Page<T>>) {
  let page = await read({ limit: MOST_ITEMS })
  yield* page.items
  while (page.nextCursor !== undefined) {
    page = await read({ limit: MOST_ITEMS, cursor: page.nextCursor })
    yield* page.items
  }
}
