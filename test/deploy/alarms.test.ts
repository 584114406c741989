import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import { type Block, literal, readModule } from '../support/dynamodb-hcl.js'

const deploy = new URL('../../../deploy/', import.meta.url)
const terraform = readModule(fileURLToPath(new URL('terraform', deploy)))
// biome-ignore lint/suspicious/noExplicitAny: a template has no type, and its properties are compared one by one.
type Any = any
const template: Any = JSON.parse(readFileSync(new URL('cloudformation/catraca.json', deploy), 'utf8'))

/** What an alarm watches, in one form for both languages. */
interface Alarm {
  name: string
  description: string
  figure: string
  condition: string
  timing: string
  dimension: string
  onlyWith: string
}

const variables = new Map(
  terraform
    .filter(({ type }) => type === 'variable')
    .map(({ labels, attributes }) => [`var.${labels[0]}`, literal(attributes.default)]),
)

function inTerraform({ attributes: one }: Block): Alarm {
  const value = (name: string) => literal(one[name]) ?? assert.fail(`no ${name} in ${one.alarm_name}`)
  const [, dimension = ''] = /^\{\s*(\w+)\s*=/.exec(one.dimensions ?? '') ?? []
  return {
    name: value('alarm_name'),
    description: value('alarm_description'),
    figure: [value('namespace'), value('metric_name'), value('statistic')].join(' '),
    condition: `${value('comparison_operator')} ${variables.get(one.threshold!) ?? one.threshold}`,
    timing: [value('period'), value('evaluation_periods'), value('treat_missing_data')].join(' '),
    dimension,
    onlyWith: one.count === undefined ? '' : 'dax',
  }
}

/** One alarm for each table where the block says so. */
function expanded(block: Block): Alarm[] {
  const alarm = inTerraform(block)
  if (block.attributes.for_each === undefined) return [alarm]
  assert.equal(block.attributes.for_each, 'local.watched_tables')
  assert.match(block.attributes.dimensions!, /TableName = each\.value/)
  return TABLE_ROLES.map((role) => ({ ...alarm, name: alarm.name.replace('$' + '{each.key}', role) }))
}

function inTemplate({ Condition, Properties: one }: Any): Alarm {
  const threshold =
    typeof one.Threshold === 'number' ? one.Threshold : template.Parameters[one.Threshold.Ref].Default
  return {
    name: one.AlarmName,
    description: one.AlarmDescription,
    figure: [one.Namespace, one.MetricName, one.Statistic].join(' '),
    condition: `${one.ComparisonOperator} ${threshold}`,
    timing: [one.Period, one.EvaluationPeriods, one.TreatMissingData].join(' '),
    dimension: one.Dimensions?.[0].Name ?? '',
    onlyWith: Condition === 'MakesDax' ? 'dax' : '',
  }
}

const byName = (one: Alarm, other: Alarm) => (one.name < other.name ? -1 : 1)
const ours = terraform
  .filter(({ labels }) => labels[0] === 'aws_cloudwatch_metric_alarm')
  .flatMap(expanded)
  .sort(byName)
const theirs = Object.values<Any>(template.Resources).filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm')

describe('alarms', () => {
  it('are the same in both languages', () => {
    assert.deepEqual(ours, theirs.map(inTemplate).sort(byName))
    assert.ok(ours.length > 25)
  })

  it('have those of the source among them', () => {
    const conditions = ours.map(({ figure, condition }) => `${figure} ${condition}`)
    assert.ok(conditions.includes('Allowlist/Pod CacheHitRate Average LessThanThreshold 70'))
    assert.ok(conditions.includes('Allowlist/Pod P95Latency Average GreaterThanThreshold 10'))
    assert.ok(conditions.includes('AWS/DAX CacheMemoryUtilization Maximum GreaterThanThreshold 80'))
  })

  it('watch throttles and consumed units of every table', () => {
    for (const role of TABLE_ROLES)
      for (const what of ['read-throttles', 'write-throttles', 'read-units', 'write-units'])
        assert.ok(
          ours.some(({ name }) => name === `catraca-${role}-${what}`),
          `${role} ${what}`,
        )
    const tables = theirs.flatMap(({ Properties: { AlarmName, Dimensions = [] } }) =>
      Dimensions.filter((one: Any) => one.Name === 'TableName').map((one: Any) => [AlarmName, one.Value.Ref]),
    )
    for (const [name, table] of tables)
      assert.equal(table.replace('Table', '').toLowerCase(), name.split('-')[1], name)
    assert.equal(tables.length, TABLE_ROLES.length * 4)
  })

  it('tell somebody, when it begins and when it is over', () => {
    for (const { Properties: one } of theirs) assert.deepEqual(one.OKActions, one.AlarmActions, one.AlarmName)
    for (const { labels, attributes } of terraform)
      if (labels[0] === 'aws_cloudwatch_metric_alarm')
        assert.deepEqual(
          [attributes.alarm_actions, attributes.ok_actions],
          ['var.alarm_actions', 'var.alarm_actions'],
        )
  })
})
