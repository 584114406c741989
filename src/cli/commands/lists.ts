import { createInterface } from 'node:readline/promises'
import { type Command, Option } from 'commander'
import { invalid } from '../../core/errors.js'
import type {
  Allowlist,
  AllowlistChange,
  AllowlistQuery,
  AllowlistType,
  NewAllowlist,
  Precision,
} from '../../guards/allowlist/types.js'
import { LIST_SORTS } from '../../guards/allowlist/types.js'
import { EXIT, Exit } from '../output/failure.js'
import { customers, note, pick, printFacts, printResult } from '../output/print.js'
import { wholeNumber } from './support/parse.js'
import {
  addPageOptions,
  type CommonOptions,
  dataCommand,
  inSession,
  ruleCommand,
  withSession,
} from './support/session.js'
import { addWaveOptions, describeWave, type WaveFlags, waveConfig } from './support/wave-options.js'

type RuleFlags = Omit<CommonOptions, 'config'> & WaveFlags

interface CreateFlags extends RuleFlags {
  id?: string
  name: string
  type: AllowlistType
  precision?: Precision
}

interface UpdateFlags extends RuleFlags {
  name?: string
  ifVersion?: number
}

export function addListCommands(allowlist: Command): void {
  const create = ruleCommand(allowlist, 'create', 'create an allowlist')
    .option('--id <id>', 'its id; generated when absent')
    .requiredOption('--name <name>', 'its name')
    .addOption(
      new Option('--type <type>', 'FIXA: an explicit list; ONDA: a rule')
        .choices(['FIXA', 'ONDA'])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--precision <precision>',
        'trusted: checks never read the store; a customer who is not on the list may rarely pass',
      ).choices(['exact', 'trusted']),
    )
  addWaveOptions(create).action(createList)

  dataCommand(allowlist, 'get <id>', 'show one allowlist').action(
    inSession(async ({ allowlists, json }, id: string) => printList(await allowlists.get(id), json)),
  )
  const list = dataCommand(allowlist, 'list', 'show the allowlists')
    .option('--search <text>', 'only lists with this text in their id or name')
    .addOption(new Option('--type <type>', 'only these').choices(['FIXA', 'ONDA']))
    .addOption(new Option('--sort <field>', 'sort by this field').choices(LIST_SORTS))
    .addOption(new Option('--order <order>', 'in which order').choices(['asc', 'desc']))
  addPageOptions(list).action(listLists)

  const update = ruleCommand(allowlist, 'update <id>', 'change the name or the rule')
    .option('--name <name>', 'its new name')
    .option('--if-version <version>', 'change nothing unless the list has this version', wholeNumber)
  addWaveOptions(update).action(updateList)

  dataCommand(allowlist, 'pause <id>', 'pause a wave: no customer passes, and its rule is kept').action(
    inSession(async ({ allowlists, json }, id: string) => printList(await allowlists.pause(id), json)),
  )
  dataCommand(allowlist, 'resume <id>', 'resume a paused wave with the rule that it had')
    .option('--if-version <version>', 'change nothing unless the list has this version', wholeNumber)
    .action(
      inSession(async ({ allowlists, json }, id: string, flags: { ifVersion?: number }) =>
        printList(await allowlists.resume(id, pick(flags, ['ifVersion'])), json),
      ),
    )

  dataCommand(allowlist, 'delete <id>', 'delete an allowlist and its members')
    .option('--yes', 'do not ask')
    .option('--no-wait', 'return before the members are removed')
    .action(deleteList)
}

function common({ config, ...flags }: RuleFlags): CommonOptions {
  return flags
}

function createList(flags: CreateFlags): Promise<void> {
  const config = waveConfig(flags)
  const input: NewAllowlist = {
    ...pick(flags, ['id', 'name', 'type', 'precision']),
    ...(config && { config }),
  }
  return withSession(common(flags), async ({ allowlists, json }) => {
    printList(await allowlists.create(input), json)
  })
}

const LIST_QUERY = ['limit', 'cursor', 'search', 'type', 'sort', 'order'] as const

const listLists = inSession(async ({ allowlists, printPage }, flags: AllowlistQuery) =>
  printPage(await allowlists.list(pick(flags, LIST_QUERY)), {
    ...{ ID: 'id', NAME: 'name', TYPE: 'type', PRECISION: 'precision', CUSTOMERS: 'customerCount' },
    ...{ VERSION: 'version', UPDATED: 'updatedAt' },
  }),
)

function updateList(id: string, flags: UpdateFlags): Promise<void> {
  const config = waveConfig(flags)
  const change: AllowlistChange = { ...pick(flags, ['name']), ...(config && { config }) }
  if (Object.keys(change).length === 0) throw invalid('options', 'must be given with something to change')
  return withSession(common(flags), async ({ allowlists, json }) => {
    printList(await allowlists.update(id, change, pick(flags, ['ifVersion'])), json)
  })
}

const deleteList = inSession(
  async ({ allowlists, print, settle }, id: string, { yes, wait }: { yes?: boolean; wait: boolean }) => {
    if (!yes) await confirm(id, (await allowlists.get(id)).customerCount)
    await allowlists.delete(id)
    if (wait) await settle()
    print({ id, deleted: true }, `deleted ${id}`)
  },
)

async function confirm(id: string, customerCount: number): Promise<void> {
  if (!process.stdin.isTTY) throw invalid('--yes', 'is needed when there is no terminal to confirm')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(`Delete ${id} with ${customers(customerCount)}? [y/N] `)
  lines.close()
  if (/^y(es)?$/i.test(answer.trim())) return
  note('nothing was deleted')
  throw new Exit(EXIT.failure)
}

const HEAD = ['id', 'name', 'type', 'precision'] as const
const TAIL = ['customerCount', 'version', 'shardCount', 'createdAt', 'updatedAt'] as const

export function printList(list: Allowlist, json: boolean): void {
  const config = list.config && describeWave(list.config)
  const paused = list.paused && `since ${list.paused.at}; before: ${describeWave(list.paused.config)}`
  printResult(json, list, () => printFacts({ ...pick(list, HEAD), config, paused, ...pick(list, TAIL) }))
}
