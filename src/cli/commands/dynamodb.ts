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
  UNSERVED,
  type UnservedRow,
} from '../../app/dynamodb-tables.js'
import { EXIT, Exit } from '../output/failure.js'
import { count, note, oncePerSecond, printLine, printResult, printRows } from '../output/print.js'
import { list } from './support/parse.js'
import { type ConfigOptions, storeCommand, storeUrlOf } from './support/session.js'

/** JSON output is printed at the end, so its rows are limited; text output prints every row as it is found. */
const MAX_JSON_ROWS = 10_000

interface Flags extends ConfigOptions {
  json?: boolean
  tables?: TableRole[]
}

export function addDynamodbCommands(program: Command): void {
  const dynamodb = program.command('dynamodb').description('tables of a DynamoDB store')
  const add = (name: string, description: string, action: (flags: Flags) => Promise<void>): void => {
    storeCommand(dynamodb, name, description)
      .option('--tables <roles>', `only these, separated by commas: ${TABLE_ROLES.join(', ')}`, roles)
      .action(action)
  }
  add('create', 'create missing tables, and enable missing features of existing ones', create)
  add('describe', 'show the tables as they are', describe)
  add('verify', 'list every difference between the tables and what this version expects', verify)
  storeCommand(
    dynamodb,
    'adopt',
    'scan the whole table for allowlists that other programs wrote, and list every row that checks will not find; DynamoDB charges for the whole scan',
  ).action(adopt)
}

function roles(text: string): TableRole[] {
  return list(text).map((role) => {
    const known = TABLE_ROLES.find((one) => one === role)
    if (known === undefined) throw new InvalidArgumentError(`Give some of ${TABLE_ROLES.join(', ')}.`)
    return known
  })
}

async function withTables(flags: Flags, work: (tables: DynamodbTables) => Promise<void>): Promise<void> {
  const tables = await openDynamodbTables(storeUrlOf(flags), flags.tables)
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
    printResult(
      flags.json,
      { tables: made.map(({ differences: _, ...facts }) => facts), differences },
      () => {
        printRows(made, { ROLE: 'role', TABLE: 'table', DONE: doneTo })
        for (const one of differences) note(`catraca: ${sentence(one)}`)
      },
    )
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
    printResult(flags.json, { tables: states }, () =>
      printRows(states, {
        ...{ ROLE: 'role', TABLE: 'name', STATUS: 'status' },
        KEYS: ({ keys }) => keys.join(', ') || undefined,
        INDEXES: ({ indexes }) => indexes.map(({ name }) => name).join(', ') || undefined,
        ...{ STREAM: 'stream', TTL: 'ttlAttribute', RECOVERY: 'pointInTimeRecovery' },
        ...{ ITEMS: 'itemCount', BYTES: 'sizeBytes' },
      }),
    )
  })
}

function verify(flags: Flags): Promise<void> {
  return withTables(flags, async (tables) => {
    const differences = await tables.verify()
    const ok = differences.length === 0
    const lines = ok ? ['the tables are as expected'] : differences.map(sentence)
    printResult(flags.json, { ok, differences }, lines.join('\n'))
    if (!ok) throw new Exit(EXIT.failure)
  })
}

function sentence({ table, what, expected, found, blocks }: Difference): string {
  const weight = blocks ? 'must be' : 'should be'
  return `${table}: ${what} ${weight} ${expected}, is ${found}`
}

async function adopt(flags: Flags): Promise<void> {
  const rows: UnservedRow[] = []
  const { scanned, lists, unserved } = await adoptLists(storeUrlOf(flags), {
    onProgress: flags.json ? undefined : oncePerSecond(printProgress),
    onUnserved(row) {
      if (!flags.json)
        printLine(`not found by checks: ${row.table} ${row.partition} ${row.sort}: ${UNSERVED[row.why]}`)
      else if (rows.length < MAX_JSON_ROWS) rows.push(row)
    },
  })
  printResult(flags.json, { scanned, lists, unserved, unservedRows: rows }, () => {
    printLine(`${sum(lists, 'allowlist')} in ${sum(scanned, 'item')}`)
    if (unserved > 0) printLine(`${sum(unserved, 'row')} not found by checks, listed above`)
  })
}

const printProgress = ({ scanned, lists }: AdoptionProgress): void =>
  note(`${sum(scanned, 'item')} scanned, ${sum(lists, 'allowlist')} found`)

const sum = (value: number, what: string): string => `${count(value)} ${what}${value === 1 ? '' : 's'}`
