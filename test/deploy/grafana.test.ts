import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { knownMetrics, metricsIn, parseAll } from '../support/promql.js'

interface Panel {
  id: number
  type: string
  title: string
  datasource?: { uid: string }
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { refId: string; expr: string }[]
}

const dashboard = JSON.parse(
  readFileSync(new URL('../../../deploy/grafana/catraca.json', import.meta.url), 'utf8'),
) as {
  uid: string
  panels: Panel[]
  templating: { list: { name: string; type: string; query: string | { query: string } }[] }
  annotations: { list: { expr: string }[] }
}
const drawn = dashboard.panels.filter(({ type }) => type !== 'row')
const expressions = [
  ...drawn.flatMap(({ targets }) => targets!.map(({ expr }) => expr)),
  ...dashboard.annotations.list.map(({ expr }) => expr),
]

/** As Grafana puts values in the places of variables. */
const filledIn = (expression: string): string =>
  expression
    .replaceAll('$__rate_interval', '5m')
    .replaceAll(/\$(job|instance)\b/g, '.*')
    .replaceAll(/\$(read|write)_price\b/g, '0.5')

describe('dashboard', () => {
  it('has panels with ids of their own that do not lie over each other', () => {
    const ids = dashboard.panels.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
    const taken = new Set<string>()
    for (const { title, gridPos } of dashboard.panels) {
      assert.ok(gridPos.x + gridPos.w <= 24, title)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(!taken.has(`${x} ${y}`), `${title} lies over another panel`)
          taken.add(`${x} ${y}`)
        }
    }
    assert.ok(drawn.length > 50)
  })

  it('can be pointed at a data source, a job and an instance, in every panel', () => {
    const names = dashboard.templating.list.map(({ name }) => name)
    assert.deepEqual(names.slice(0, 3), ['datasource', 'job', 'instance'])
    for (const { title, datasource, targets } of drawn) {
      assert.equal(datasource?.uid, '$' + '{datasource}', title)
      for (const { expr } of targets!) assert.match(expr, /job=~"\$job",instance=~"\$instance"/, title)
      assert.equal(new Set(targets!.map(({ refId }) => refId)).size, targets!.length, title)
    }
    for (const expression of expressions)
      for (const [, name] of expression.matchAll(/\$([a-z]\w*)/g))
        assert.ok(names.includes(name!), expression)
  })

  it('asks in a language that Prometheus reads', () => {
    for (const expression of expressions.map(filledIn)) assert.doesNotMatch(expression, /\$/)
    parseAll(expressions.map(filledIn))
  })

  it('shows every metric of the server, and no other', () => {
    const known = knownMetrics()
    const used = new Set(expressions.map(filledIn).flatMap(metricsIn))
    assert.deepEqual(
      [...used].filter((name) => !known.has(name)),
      [],
    )
    const shown = (name: string) => ['', '_bucket', '_sum', '_count'].some((end) => used.has(name + end))
    const base = (name: string) => !/_(bucket|sum|count)$/.test(name)
    const ours = [...known].filter((name) => /^(catraca|redis)_/.test(name) && base(name))
    assert.deepEqual(
      ours.filter((name) => !shown(name)),
      [],
    )
  })
})
