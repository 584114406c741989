import { DYNAMODB_PROFILE_NAMES, type DynamodbProfile } from '../../src/engines/dynamodb/defaults.js'
import type { ByVerb, MonthUnits, Units } from './dynamodb-month.js'
import type { Figures } from './proof.js'

/** The source's month: its load and its prices. */
const SOURCE = { pods: 40, addsPerSecond: 10, checksPerSecond: 5000, confirmedShare: 0.05 }
const MILLION_SECONDS = 2.6
const DOLLARS = { read: 0.25, write: 1.25 }
const SOURCES_BILL = 780
const SCRAPE_SECONDS = 15
const SAVE_SECONDS = 300
/** What the run is too short for, and what is not read or written. */
const REST = [
  [
    'indexes for memory: whole builds once a day, writing 12 MB for each list, loading them in 40 pods',
    '300 × (5 × 0.06 × 0.25 + 0.012 × 1.25 + 40 × 0.003 × 0.25) = 36',
    36,
  ],
  ['what 41 processes tell of their use, every five minutes', '41 / 300 × 2.6 × 1.25 = 0.4', 0.4],
  ['storage of members', '30 × 0.25 = 7.5', 7.5],
  ['storage of the audit trail (90 days) and the logs (7 days)', '(31 + 1.5) × 0.25 = 8.1', 8.1],
  ['point-in-time recovery of both', '(30 + 32.5) × 0.2 = 12.5', 12.5],
  ['streams, read by the relay', '5 × 4 × 2.6 × 0.2 = 10.4', 10.4],
] as const

/** What pods do at intervals, by verb; whatever is not named comes last. */
const FOLLOWING: [name: string, verbs: readonly string[]][] = [
  ['records of lists', ['follow.lists', 'allowlist.meta']],
  ['logs', ['feed.read', 'feed.position']],
  ['how far the logs are behind: probes', ['feed.probe']],
  ['the board', ['follow.read', 'follow.lead', 'follow.ask']],
  ['upkeep', ['allowlist.upkeep']],
  ['API keys', ['keys']],
  ['changes of limits and of their configuration', ['limit.watch']],
  ['revoked tokens', ['tokens']],
  ['notices of caches', ['cache.watch']],
  ['announcements of the fleet', ['fleet']],
]
const REMAINING = 'everything else in pods'

/** Units a second of the whole month, by row. */
export function monthRows(month: MonthUnits): Map<string, Units> {
  const { pods, addsPerSecond, checksPerSecond, confirmedShare } = SOURCE
  const rows = new Map<string, Units>()
  const note = (name: string, ...parts: Units[]): void => void rows.set(name, rounded(sum(parts)))
  const inPods = (verbs: readonly string[]): Units =>
    sum([of(month.leader, verbs), times(of(month.pod, verbs), pods - 1)])
  note('confirmed checks', times(total(month.confirmed), checksPerSecond * confirmedShare))
  for (const [name, verbs] of FOLLOWING) note(name, inPods(verbs))
  const named = new Set(FOLLOWING.flatMap(([, verbs]) => verbs))
  const others = [...Object.keys(month.leader), ...Object.keys(month.pod)].filter((verb) => !named.has(verb))
  note(REMAINING, inPods([...new Set(others)]))
  note('counts of use of lists', times(total(month.saved), pods / SAVE_SECONDS))
  note('scrapes of `/metrics`', times(total(month.scrape), pods / SCRAPE_SECONDS))
  note('adds', times(total(month.add), addsPerSecond))
  note('log entries', times(total(month.log), addsPerSecond))
  note('relay', total(month.relay))
  return rows
}

export function figuresOf(
  profile: DynamodbProfile,
  month: MonthUnits,
): { headline: Figures; units: Figures } {
  const rows = monthRows(month)
  const units: Figures = {}
  for (const [name, { read, write }] of rows) {
    units[`${profile}: ${name}, read units a second`] = read
    units[`${profile}: ${name}, write units a second`] = write
  }
  const byVerb = { pod: month.pod, add: month.add, 'log entry': month.log, relay: month.relay }
  for (const [who, verbs] of Object.entries(byVerb)) {
    for (const [verb, { read, write }] of Object.entries(verbs)) {
      units[`${profile}: ${who}, ${verb}, units`] = Math.round((read + write) * 1000) / 1000
    }
  }
  const at = (all: readonly number[], share: number) =>
    Math.round(all[Math.min(all.length - 1, Math.floor(share * all.length))] ?? 0)
  const headline = {
    [`${profile}: dollars a month`]: billOf([...rows.values()]).all,
    [`${profile}: delay p50 ms`]: at(month.delaysMs, 0.5),
    [`${profile}: delay p99 ms`]: at(month.delaysMs, 0.99),
    [`${profile}: delay max ms`]: at(month.delaysMs, 1),
    [`${profile}: age of memory p99 ms`]: at(month.agesMs, 0.99),
    [`${profile}: age of memory max ms`]: at(month.agesMs, 1),
  }
  return { headline, units }
}

function billOf(rows: readonly Units[]): { read: number; write: number; all: number; units: Units } {
  const units = rounded(sum(rows))
  const read = Math.round(units.read * MILLION_SECONDS * DOLLARS.read)
  const write = Math.round(units.write * MILLION_SECONDS * DOLLARS.write)
  const rest = REST.reduce((all, [, , dollars]) => all + dollars, 0)
  return { read, write, units, all: Math.round(read + write + rest) }
}

export const BEGIN = '<!-- Counted: `npm run proof -- cost` writes what follows. -->'
export const END = '<!-- End of what was counted. -->'

export function withCounted(page: string, figures: Figures): string {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error('docs/cost.md has no place for the tables')
  return `${before}${BEGIN}\n\n${tables(figures)}\n${END}${after}`
}

/** The tables of the page, from the figures of the proof. */
function tables(figures: Figures): string {
  const names = rowNames(figures)
  const column = (profile: DynamodbProfile): Units[] =>
    names.map((name) => ({
      read: figures[`${profile}: ${name}, read units a second`]!,
      write: figures[`${profile}: ${name}, write units a second`]!,
    }))
  const columns = DYNAMODB_PROFILE_NAMES.map((profile) => column(profile))
  const units = (kind: keyof Units): string[] => [
    ...names.map((name, i) => [name, ...columns.map((rows) => plain(rows[i]![kind]))]).map(row),
    row(['**all**', ...columns.map((rows) => `**${plain(billOf(rows).units[kind])}**`)]),
  ]
  const head = (first: string): string[] => {
    const titles = DYNAMODB_PROFILE_NAMES.map((name) => `\`${name}\``)
    return [row([first, ...titles]), row(['---', ...titles.map(() => '---')])]
  }
  const bills = columns.map(billOf)
  const dollars = (kind: keyof Units): string[] =>
    bills.map(
      (bill) => `\`${plain(bill.units[kind])} × ${MILLION_SECONDS} × ${DOLLARS[kind]} = ${bill[kind]}\``,
    )
  const rest = REST.map(([name, arithmetic]) => row([name, ...bills.map(() => `\`${arithmetic}\``)]))
  const all = bills.map(
    ({ read, write, all }) =>
      `\`${read} + ${write} + ${REST.map(([, , value]) => value).join(' + ')} = ${all}\``,
  )
  const measured = ['delay p50', 'delay p99', 'delay max', 'age of memory p99', 'age of memory max']
  const delays = measured.map((name) =>
    row([name, ...DYNAMODB_PROFILE_NAMES.map((profile) => seconds(figures[`${profile}: ${name} ms`]!))]),
  )
  return [
    ...[...head('read units a second'), ...units('read'), ''],
    ...[...head('write units a second'), ...units('write'), ''],
    ...[...head(`dollars a month (the source: ${SOURCES_BILL})`)],
    ...[row(['reads', ...dollars('read')]), row(['writes', ...dollars('write')]), ...rest],
    ...[row(['**all**', ...all]), ''],
    ...[...head('measured, without a topic'), ...delays, ''],
  ].join('\n')
}

function rowNames(figures: Figures): string[] {
  const [first] = DYNAMODB_PROFILE_NAMES
  return Object.keys(figures).flatMap((figure) => {
    const [, name] = new RegExp(`^${first}: (.+), read units a second$`).exec(figure) ?? []
    return name === undefined ? [] : [name]
  })
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const plain = (value: number): string => String(Math.round(value * 10) / 10)
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const total = (units: ByVerb): Units => sum(Object.values(units))
const of = (units: ByVerb, verbs: readonly string[]): Units => sum(verbs.flatMap((verb) => units[verb] ?? []))
const times = ({ read, write }: Units, by: number): Units => ({ read: read * by, write: write * by })
const rounded = ({ read, write }: Units): Units => ({
  read: Math.round(read * 10) / 10,
  write: Math.round(write * 10) / 10,
})

function sum(all: readonly Units[]): Units {
  const sums = { read: 0, write: 0 }
  for (const { read, write } of all) {
    sums.read += read
    sums.write += write
  }
  return sums
}
