import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pageOf, readRules, readRulesFile, rulesFolder } from '../support/alert-rules.js'
import { knownMetrics, metricsIn, promtool } from '../support/promql.js'

const { records, alerts } = readRules()

/** What the source documents ask to be told of, and what stands for it here. */
const OF_THE_SOURCES: [what: string, alert: string, severity: string, condition: RegExp][] = [
  ['hit rate below 70 % of checks', 'CatracaIndexHitRate', 'warning', /ratio5m < 0\.7$/m],
  ['hit rate below 70 % of caches', 'CatracaCacheHitRate', 'warning', /ratio5m < 0\.7$/m],
  ['hit rate below 70 % of Redis', 'CatracaRedisHitRate', 'info', /ratio5m < 0\.7$/m],
  ['hit rate of DICT entries above 80 %', 'CatracaDictEntryHitRate', 'info', /dict:entry:\.\*"\} < 0\.8$/m],
  ['p95 above 10 ms', 'CatracaCheckLatency', 'warning', /p95_5m > 0\.01$/m],
  ['p95 of Redis above 10 ms', 'CatracaRedisLatency', 'warning', /latency_ms:p95_5m > 10$/m],
  ['memory of Redis above 80 %', 'CatracaRedisMemory', 'warning', /> 0\.8$/],
  [
    'memory of the process above 80 %',
    'CatracaProcessMemory',
    'warning',
    /0\.8 \* catraca:process_memory_limit/,
  ],
  ['more than 100 evictions a minute', 'CatracaRedisEvictions', 'warning', /per_minute > 100$/],
  ['more than 1,000 evictions a minute', 'CatracaRedisEvictions', 'critical', /per_minute > 1000$/],
  ['more than 10 failed connections a minute', 'CatracaConnectionFailures', 'warning', /\* 60 > 10$/],
  ['feed lag', 'CatracaFeedLag', 'warning', /feed_lag_seconds > 10$/],
  ['stale index', 'CatracaIndexStale', 'warning', /stale_lists > 0$/],
]

describe('alert rules', () => {
  it('are read by Prometheus and pass their cases', () => {
    for (const args of [
      ['check', 'rules', 'catraca.rules.yml'],
      ['test', 'rules', 'catraca.rules.test.yml'],
    ]) {
      const { status, output } = promtool(args, rulesFolder)
      assert.equal(status, 0, output)
    }
  })

  it('have a case in which each fires, and one in which it does not', () => {
    const { tests } = readRulesFile('catraca.rules.test.yml') as {
      tests: { name: string; promql_expr_test?: { expr: string; exp_samples: unknown[] }[] }[]
    }
    const cases = tests.flatMap(({ promql_expr_test: asked = [] }) => asked)
    for (const { alert, labels } of alerts) {
      const about = `ALERTS{alertname="${alert}",severity="${labels.severity}",alertstate="firing"}`
      const expected = cases.filter(({ expr }) => expr.includes(about)).map((one) => one.exp_samples.length)
      assert.deepEqual([...new Set(expected)].sort(), [0, 1], `${alert} ${labels.severity}`)
    }
    assert.ok(alerts.length > 35)
  })

  it('say how bad it is, what it is, and where its page is', () => {
    for (const { alert, labels, annotations } of alerts) {
      assert.match(labels.severity!, /^(critical|warning|info)$/, alert)
      assert.deepEqual(Object.keys(annotations), ['summary', 'description', 'runbook'], alert)
      assert.equal(annotations.runbook, `docs/runbooks/${pageOf(alert)}.md`)
    }
  })

  for (const [what, name, severity, condition] of OF_THE_SOURCES) {
    it(`tell of what the sources name: ${what}`, () => {
      const rule = alerts.find(({ alert, labels }) => alert === name && labels.severity === severity)
      assert.match(rule?.expr ?? 'no such alert', condition)
    })
  }

  it('ask only for metrics that exist', () => {
    const known = new Set([...knownMetrics(), ...records.map(({ record }) => record!)])
    const unknown = [...records, ...alerts]
      .flatMap(({ expr }) => metricsIn(expr))
      .filter((one) => !known.has(one))
    assert.deepEqual(unknown, [])
  })
})

describe('scrape configuration', () => {
  it('is one that Prometheus takes, with a token from a file and these rules', () => {
    // Not more than its syntax: the file of the token is on the machine of Prometheus.
    const { status, output } = promtool(['check', 'config', '--syntax-only', 'prometheus.yml'], rulesFolder)
    assert.equal(status, 0, output)
    const config = readRulesFile('prometheus.yml')
    assert.ok(config.rule_files.length > 0)
    for (const file of config.rule_files) assert.ok(existsSync(join(rulesFolder, file)), file)
    for (const job of config.scrape_configs) {
      assert.match(job.job_name, /catraca/)
      assert.match(job.authorization.credentials_file, /^\//)
      assert.equal(job.metrics_path ?? '/metrics', '/metrics')
    }
  })
})
