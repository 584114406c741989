import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { stringify } from 'yaml'

const METRICS_PAGE = new URL('../../../docs/reference/metrics.md', import.meta.url)
const WORDS = new Set(['by', 'on', 'and', 'or', 'unless', 'without', 'ignoring', 'offset', 'bool'])
/** Of Prometheus itself, about its targets and alerts. */
const ABOUT_TARGETS = ['up', 'scrape_duration_seconds', 'ALERTS']

export function promtool(args: string[], cwd: string): { status: number | null; output: string } {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' })
  if (error !== undefined)
    assert.fail(`promtool cannot be run (apt-get install prometheus): ${error.message}`)
  return { status, output: `${stdout}${stderr}` }
}

/** Has Prometheus parse expressions, all of them at once. */
export function parseAll(expressions: readonly string[]): void {
  assert.ok(expressions.length > 0)
  const directory = mkdtempSync(join(tmpdir(), 'catraca-promql-'))
  try {
    const rules = expressions.map((expr, at) => ({ record: `expression:${at}`, expr }))
    writeFileSync(join(directory, 'all.yml'), stringify({ groups: [{ name: 'all', rules }] }))
    const { status, output } = promtool(['check', 'rules', 'all.yml'], directory)
    assert.equal(status, 0, output)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** The names of metrics (and of recorded series) in an expression. */
export function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/\{[^{}]*\}/g, ' ')
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/"[^"]*"/g, ' ')
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)/g, ' ')
  const names = bare.matchAll(/(?<![\w:$.])([a-zA-Z_:][\w:]*)(?!\w)\s*(\()?/g)
  return [...names]
    .filter(([, name, call]) => call === undefined && !WORDS.has(name!))
    .map(([, name]) => name!)
}

/** What the server offers: the names of docs/reference/metrics.md, and what prom-client tells of the process. */
export function knownMetrics(): Set<string> {
  assert.ok(existsSync(METRICS_PAGE), 'docs/reference/metrics.md is missing: npm run docs')
  const page = readFileSync(METRICS_PAGE, 'utf8')
  const named = [...page.matchAll(/\b(?:catraca|redis)_[a-z0-9_]+/g)].map(([name]) => name)
  const register = new Registry()
  collectDefaultMetrics({ register })
  const ofProcess = register.getMetricsAsArray().map(({ name }) => name)
  register.clear()
  const histograms = [...named, ...ofProcess].flatMap((name) => [
    `${name}_bucket`,
    `${name}_sum`,
    `${name}_count`,
  ])
  return new Set([...named, ...ofProcess, ...histograms, ...ABOUT_TARGETS])
}
