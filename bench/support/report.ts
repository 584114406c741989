import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'

export interface Measurement {
  name: string
  rounds: number
  /** What was measured, with the unit in the name. */
  figures: Record<string, number>
  /** What the targets speak of. */
  ratios: Record<string, number>
  /** Sizes and other circumstances. */
  setting?: Record<string, string | number>
}

/** Prints a table and writes `bench/results/NAME.json`. */
export function report({ name, rounds, figures, ratios, setting = {} }: Measurement): void {
  for (const [title, values] of Object.entries({ setting, figures, ratios })) {
    console.log(`\n${title}`)
    for (const [key, value] of Object.entries(values)) console.log(`  ${key.padEnd(44)} ${format(value)}`)
  }
  const circumstances = {
    date: new Date().toISOString(),
    ...(commit() !== undefined && { commit: commit() }),
    node: process.version,
    cpus: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    loadAverage: loadavg().map((load) => Math.round(load * 100) / 100),
  }
  const directory = new URL('../../../bench/results/', import.meta.url)
  mkdirSync(directory, { recursive: true })
  const result = { name, ...circumstances, rounds, setting, figures, ratios }
  writeFileSync(new URL(`${name}.json`, directory), `${JSON.stringify(result, null, 2)}\n`)
}

/** The commit that the working tree stands on. Undefined outside of a clone. */
function commit(): string | undefined {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

function format(value: string | number): string {
  if (typeof value === 'string') return value
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Math.round(value * 1000) / 1000)
}

/** The middle of the rounds: neither a lucky one nor a disturbed one counts. */
export function median(rounds: readonly number[]): number {
  const sorted = [...rounds].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
