import { createInterface } from 'node:readline/promises'
import { type Command, Option } from 'commander'
import { invalid } from '../../core/errors.js'
import type {
  Allowlist,
  AllowlistChange,
  AllowlistQuery,
  AllowlistType,
  ListLabels,
  NewAllowlist,
  Precision,
  ResumeOptions,
  WaveNow,
} from '../../guards/allowlist/types.js'
import { LIST_SORTS } from '../../guards/allowlist/types.js'
import { WAVE_STATES } from '../../guards/allowlist/wave/now.js'
import { EXIT, Exit } from '../output/failure.js'
import { customers, note, pick, printFacts, printResult, printRows } from '../output/print.js'
import { list, wholeNumber } from './support/parse.js'
import {
  addPageOptions,
  type CommonOptions,
  changeCommand,
  dataCommand,
  inSession,
  ruleCommand,
  withReason,
  withSession,
} from './support/session.js'
import { addWaveOptions, describeWave, type WaveFlags, waveConfig } from './support/wave-options.js'

type RuleFlags = Omit<CommonOptions, 'config'> & WaveFlags

interface CreateFlags extends RuleFlags, ListLabels {
  id?: string
  name: string
  type: AllowlistType
  precision?: Precision
}

interface UpdateFlags extends RuleFlags, ListLabels {
  name?: string
  ifVersion?: number
}

export function addListCommands(allowlist: Command): void {
  const create = withReason(ruleCommand(allowlist, 'create', 'create an allowlist'))
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
  addWaveOptions(addLabelOptions(create)).action(createList)

  dataCommand(allowlist, 'sample <id>', 'name some customers who pass a wave now, from its base list')
    .option('--limit <count>', 'how many at most, up to 100', wholeNumber)
    .action(
      inSession(async ({ allowlists, print }, id: string, flags: { limit?: number }) => {
        const sample = await allowlists.sample(id, pick(flags, ['limit']))
        print(sample, () => printRows(sample.items, { CUSTOMER: 'customerId' }))
      }),
    )
  dataCommand(allowlist, 'used-by <id>', 'show the waves whose base or exclusion an allowlist is').action(
    inSession(async ({ allowlists, print }, id: string) => {
      const items = await allowlists.usedBy(id)
      print({ items }, () => printRows(items, { ALLOWLIST: 'allowlistId', NAME: 'name', AS: 'as' }))
    }),
  )
  dataCommand(allowlist, 'get <id>', 'show one allowlist').action(
    inSession(async ({ allowlists, json }, id: string) => printList(await allowlists.get(id), json)),
  )
  const listing = dataCommand(allowlist, 'list', 'show the allowlists')
    .option('--search <text>', 'only lists with this text in their id, name, owner or tags')
    .option('--prefix <text>', 'only lists whose id or name begins so')
    .option('--tag <tag>', 'only lists that have this tag')
    .option('--owner <owner>', 'only lists of this owner')
    .addOption(new Option('--state <state>', 'only waves in this state').choices(WAVE_STATES))
    .option('--next-step-before <time>', 'only waves whose next step comes before this time, ISO 8601')
    .addOption(new Option('--type <type>', 'only these').choices(['FIXA', 'ONDA']))
    .addOption(new Option('--sort <field>', 'sort by this field').choices(LIST_SORTS))
    .addOption(new Option('--order <order>', 'in which order').choices(['asc', 'desc']))
  addPageOptions(listing).action(listLists)

  const update = withReason(ruleCommand(allowlist, 'update <id>', 'change the name, the rule or the labels'))
    .option('--name <name>', 'its new name')
    .option('--if-version <version>', 'change nothing unless the list has this version', wholeNumber)
  addWaveOptions(addLabelOptions(update)).action(updateList)

  changeCommand(allowlist, 'pause <id>', 'pause a wave: no customer passes, and its rule is kept').action(
    inSession(async ({ allowlists, json }, id: string) => printList(await allowlists.pause(id), json)),
  )
  changeCommand(allowlist, 'resume <id>', 'resume a paused wave with the rule that it had')
    .option('--if-version <version>', 'change nothing unless the list has this version', wholeNumber)
    .option('--shift', 'move steps of the ramp that lie after the pause by the time that it lasted')
    .action(
      inSession(async ({ allowlists, json }, id: string, flags: ResumeOptions) =>
        printList(await allowlists.resume(id, pick(flags, ['ifVersion', 'shift'])), json),
      ),
    )

  changeCommand(allowlist, 'delete <id>', 'delete an allowlist and its members')
    .option('--yes', 'do not ask')
    .option('--no-wait', 'return before the members are removed')
    .action(deleteList)
}

const LABELS = ['tags', 'owner', 'description'] as const

const addLabelOptions = (command: Command): Command =>
  command
    .option('--tags <tags>', 'tags, separated by commas; empty: none', tags)
    .option('--owner <owner>', 'whom to ask; empty: nobody')
    .option('--description <text>', 'what it is for; empty: none')

const tags = (text: string): string[] => (text.trim() === '' ? [] : list(text))

function common({ config, ...flags }: RuleFlags): CommonOptions {
  return flags
}

function createList(flags: CreateFlags): Promise<void> {
  const config = waveConfig(flags)
  const input: NewAllowlist = {
    ...pick(flags, ['id', 'name', 'type', 'precision', ...LABELS]),
    ...(config && { config }),
  }
  return withSession(common(flags), async ({ allowlists, json }) => {
    printList(await allowlists.create(input), json)
  })
}

const LIST_QUERY = [
  ...(['limit', 'cursor', 'search', 'prefix', 'tag', 'owner', 'type', 'state'] as const),
  ...(['nextStepBefore', 'sort', 'order'] as const),
] as const

const listLists = inSession(async ({ allowlists, printPage }, flags: AllowlistQuery) =>
  printPage(await allowlists.list(pick(flags, LIST_QUERY)), {
    ...{ ID: 'id', NAME: 'name', TYPE: 'type', STATE: ({ wave }: Allowlist) => wave?.state },
    ...{
      PRECISION: 'precision',
      CUSTOMERS: 'customerCount',
      TAGS: ({ tags }: Allowlist) => tags?.join(', '),
    },
    ...{ VERSION: 'version', UPDATED: 'updatedAt' },
  }),
)

function updateList(id: string, flags: UpdateFlags): Promise<void> {
  const config = waveConfig(flags)
  const change: AllowlistChange = { ...pick(flags, ['name', ...LABELS]), ...(config && { config }) }
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
  const { wave, tags } = list
  const labels = { tags: tags?.join(', '), ...pick(list, ['owner', 'description']) }
  const facts = { ...pick(list, HEAD), config, paused, state: wave && describeNow(wave), ...labels }
  printResult(json, list, () => printFacts({ ...facts, ...pick(list, TAIL) }))
}

function describeNow({ state, share, nextStep }: WaveNow): string {
  const text = (at: { share?: number }) =>
    at.share === undefined ? [] : [`${Number((at.share * 100).toFixed(6))} %`]
  const next = nextStep && `then ${[nextStep.turn, ...text(nextStep)].join(' ')} at ${nextStep.at}`
  return [state, ...text(share === undefined ? {} : { share }), ...(next ? [next] : [])].join(', ')
}
