import { type Command, InvalidArgumentError } from 'commander'
import {
  type AdoptionProgress,
  adoptLists,
  type Difference,
  type DynamodbTables,
  openDynamodbTables,
  TABLE_ROLES,
  type TableCreation,
  type TableRole,
  type TableState,
  UNSERVED,
  type UnservedRow,
} from '../../app/dynamodb-tables.js'
import { storeOf } from '../../config/load.js'
import { EXIT, Exit } from '../output/failure.js'
import { count, note, printJson, printLine, printTable } from '../output/print.js'
import { list } from './support/parse.js'
import { type ConfigOptions, configOf, configOption, settingOption } from './support/session.js'

const TOLD_EVERY_MS = 1000
/** JSON output is printed at the end, so its rows are limited; text output prints every row as it is found. */
const MAX_JSON_ROWS = 10_000

interface Flags extends ConfigOptions {
  store?: string
  json?: boolean
  tables?: TableRole[]
}

export function addDynamodbCommands(program: Command): void {
  const dynamodb = program.command('dynamodb').description('tables of a DynamoDB store')
  const add = (name: string, description: string, action: (flags: Flags) => Promise<void>): void => {
    dynamodb
      .command(name)
      .description(description)
      .option('--tables <roles>', `only these, separated by commas: ${TABLE_ROLES.join(', ')}`, roles)
      .option('--json', 'print JSON')
      .addOption(settingOption('store', 'url'))
      .addOption(configOption())
      .action(action)
  }
  add('create', 'create missing tables, and enable missing features of existing ones', create)
  add('describe', 'show the tables as they are', describe)
  add('verify', 'list every difference between the tables and what this version expects', verify)
  dynamodb
    .command('adopt')
    .description(
      'scan the whole table for allowlists that other programs wrote, and list every row that checks will not find; DynamoDB charges for the whole scan',
    )
    .option('--json', 'print JSON')
    .addOption(settingOption('store', 'url'))
    .addOption(configOption())
    .action(adopt)
}

function roles(text: string): TableRole[] {
  return list(text).map((role) => {
    const known = TABLE_ROLES.find((one) => one === role)
    if (known === undefined) throw new InvalidArgumentError(`Give some of ${TABLE_ROLES.join(', ')}.`)
    return known
  })
}

async function withTables(flags: Flags, work: (tables: DynamodbTables) => Promise<void>): Promise<void> {
  const config = configOf(flags, { store: 'store' })
  const tables = await openDynamodbTables(storeOf(config, 'allowlists'), flags.tables)
  try {
    await work(tables)
  } finally {
    tables.close()
  }
}

function create(flags: Flags): Promise<void> {
  return withTables(flags, async (tables) => {
    if (!flags.json) note('creating the tables; this can take a minute')
    const made = await tables.create()
    const differences = made.flatMap((one) => one.differences)
    if (flags.json) printJson({ tables: made.map(({ differences: _, ...facts }) => facts), differences })
    else {
      printTable(
        ['ROLE', 'TABLE', 'DONE'],
        made.map((one) => [one.role, one.table, doneTo(one)]),
      )
      for (const one of differences) note(`catraca: ${sentence(one)}`)
    }
    if (differences.some(({ blocks }) => blocks)) throw new Exit(EXIT.failure)
  })
}

function doneTo({ created, turnedOn }: TableCreation): string {
  if (created) return 'created'
  return turnedOn.length === 0 ? 'was there' : `turned on ${turnedOn.join(', ')}`
}

function describe(flags: Flags): Promise<void> {
  return withTables(flags, async (tables) => {
    const states = await tables.describe()
    if (flags.json) return printJson({ tables: states })
    printTable(
      ['ROLE', 'TABLE', 'STATUS', 'KEYS', 'INDEXES', 'STREAM', 'TTL', 'RECOVERY', 'ITEMS', 'BYTES'],
      states.map(row),
    )
  })
}

function row(state: TableState): (string | number | undefined)[] {
  const { role, name, status, keys, indexes, stream, ttlAttribute, pointInTimeRecovery } = state
  const indexNames = indexes.map((index) => index.name).join(', ')
  const shown = [role, name, status, keys.join(', ') || undefined, indexNames || undefined]
  return [...shown, stream, ttlAttribute, pointInTimeRecovery, state.itemCount, state.sizeBytes]
}

function verify(flags: Flags): Promise<void> {
  return withTables(flags, async (tables) => {
    const differences = await tables.verify()
    if (flags.json) printJson({ ok: differences.length === 0, differences })
    else if (differences.length === 0) printLine('the tables are as expected')
    else for (const one of differences) printLine(sentence(one))
    if (differences.length > 0) throw new Exit(EXIT.failure)
  })
}

function sentence({ table, what, expected, found, blocks }: Difference): string {
  const weight = blocks ? 'must be' : 'should be'
  return `${table}: ${what} ${weight} ${expected}, is ${found}`
}

async function adopt(flags: Flags): Promise<void> {
  const store = storeOf(configOf(flags, { store: 'store' }), 'allowlists')
  const rows: UnservedRow[] = []
  const { scanned, lists, unserved } = await adoptLists(store, {
    onProgress: flags.json ? undefined : printProgress(),
    onUnserved(row) {
      if (!flags.json)
        printLine(`not found by checks: ${row.table} ${row.partition} ${row.sort}: ${UNSERVED[row.why]}`)
      else if (rows.length < MAX_JSON_ROWS) rows.push(row)
    },
  })
  if (flags.json) printJson({ scanned, lists, unserved, unservedRows: rows })
  else {
    printLine(`${sum(lists, 'allowlist')} in ${sum(scanned, 'item')}`)
    if (unserved > 0) printLine(`${sum(unserved, 'row')} not found by checks, listed above`)
  }
}

/** At most once a second. */
function printProgress(): (progress: AdoptionProgress) => void {
  let toldMs = performance.now()
  return ({ scanned, lists }) => {
    if (performance.now() - toldMs < TOLD_EVERY_MS) return
    toldMs = performance.now()
    note(`${sum(scanned, 'item')} scanned, ${sum(lists, 'allowlist')} found`)
  }
}

const sum = (value: number, what: string): string => `${count(value)} ${what}${value === 1 ? '' : 's'}`
