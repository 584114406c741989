/** Data goes to standard output; messages for the person at the terminal go to standard error. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

export function note(line: string): void {
  process.stderr.write(`${line}\n`)
}

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2))
}

export type Cell = string | number | boolean | undefined | null

/** Columns as wide as their widest cell; numbers are right-aligned. */
export function printTable(headers: string[], rows: Cell[][]): void {
  const texts = rows.map((row) => row.map(show))
  const widths = headers.map((header, i) => Math.max(header.length, ...texts.map((row) => row[i]!.length)))
  const isNumeric = headers.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'))
  const line = (cells: string[]): string =>
    cells
      .map((cell, i) => (isNumeric[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd()
  for (const row of [headers, ...texts]) printLine(line(row))
}

/** Columns by their heading: a field of the row, or what is computed from it. */
export type Columns<T> = Record<string, CellField<T> | ((row: T) => Cell)>
type CellField<T> = { [K in keyof T]-?: T[K] extends Cell ? K : never }[keyof T]

export function printRows<T>(rows: readonly T[], columns: Columns<T>): void {
  const cell = (row: T, of: Columns<T>[string]) => (typeof of === 'function' ? of(row) : (row[of] as Cell))
  printTable(
    Object.keys(columns),
    rows.map((row) => Object.values(columns).map((of) => cell(row, of))),
  )
}

/** Prints a result as JSON, or as text for a person. */
export function printResult(json: boolean | undefined, value: unknown, text: string | (() => void)): void {
  if (json) printJson(value)
  else if (typeof text === 'string') printLine(text)
  else text()
}

/** Prints one object, one field per line; undefined fields are skipped. */
export function printFacts(facts: Record<string, Cell>): void {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  const width = Math.max(...known.map(([name]) => name.length))
  for (const [name, value] of known) printLine(`${name.padEnd(width)}  ${show(value)}`)
}

/** These fields as far as they are given, in this order: a store and a server may return them in another order. */
export function pick<T extends object, K extends keyof T & string>(
  value: T,
  names: readonly K[],
): Pick<T, K> {
  const given = names.filter((name) => value[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, value[name]])) as Pick<T, K>
}

/** Names and metadata come from other parties: a control character in them must not control the terminal. */
export function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function show(value: Cell): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return visible(String(value))
}

const COUNT = new Intl.NumberFormat('en-US')

export function count(value: number): string {
  return COUNT.format(value)
}

export function customers(value: number): string {
  return `${count(value)} ${value === 1 ? 'customer' : 'customers'}`
}

/** 75,000 ms is `1:15`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const tail = `${String(m).padStart(h > 0 ? 2 : 1, '0')}:${String(s).padStart(2, '0')}`
  return h > 0 ? `${h}:${tail}` : tail
}

const TOLD_EVERY_MS = 1000

/** Tells of progress at most once a second, and nothing of what takes less than that. */
export function oncePerSecond<A extends unknown[]>(tell: (...args: A) => void): (...args: A) => void {
  let toldMs = performance.now()
  return (...args) => {
    if (performance.now() - toldMs < TOLD_EVERY_MS) return
    toldMs = performance.now()
    tell(...args)
  }
}
