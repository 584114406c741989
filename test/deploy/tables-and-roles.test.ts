import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  keyAttributes,
  TABLE_ROLES,
  TABLES,
  type TableRole,
} from '../../src/engines/dynamodb/tables/tables.js'
import { type Block, literal, parts, readModule } from '../support/dynamodb-hcl.js'

const deploy = new URL('../../../deploy/', import.meta.url)
const directory = fileURLToPath(new URL('terraform', deploy))
const terraform = readModule(directory)
// biome-ignore lint/suspicious/noExplicitAny: a template has no type, and its properties are compared one by one.
type Properties = any
const template = JSON.parse(readFileSync(new URL('cloudformation/catraca.json', deploy), 'utf8')) as {
  Parameters: Record<string, { Default?: string }>
  Resources: Record<string, { Type: string; Properties: Properties }>
}

/** What a table is, in one form for all that describe it. */
interface Shape {
  name: string
  billing: string
  key: (string | undefined)[]
  attributes: string[]
  indexes: string[]
  stream: string | undefined
  ttl: string | undefined
  recovery: boolean
}

function defined(role: TableRole): Shape {
  const table = TABLES[role]
  return {
    name: table.defaultName,
    billing: 'PAY_PER_REQUEST',
    key: [table.partitionKey, table.sortKey],
    attributes: keyAttributes(table).map((name) => `${name} S`),
    indexes: table.indexes.map((one) => [one.name, one.partitionKey, one.sortKey, one.projection].join(' ')),
    stream: table.stream,
    ttl: table.ttlAttribute,
    recovery: table.pointInTimeRecovery,
  }
}

const resource = (type: string, name: string): Block => {
  const found = terraform.find(({ labels }) => labels[0] === type && labels[1] === name)
  return found ?? assert.fail(`no ${type}.${name}`)
}
const inner = (block: Block, type: string): Block[] => block.blocks.filter((one) => one.type === type)
const values = (block: Block, ...names: string[]) => names.map((name) => literal(block.attributes[name]))

function inTerraform(role: TableRole): Shape {
  const table = resource('aws_dynamodb_table', role)
  const variable = terraform.find(
    ({ type, labels }) => type === 'variable' && `var.${labels[0]}` === table.attributes.name,
  )
  const [ttl] = inner(table, 'ttl')
  return {
    name: literal(variable?.attributes.default) ?? 'none',
    billing: literal(table.attributes.billing_mode) ?? 'none',
    key: values(table, 'hash_key', 'range_key'),
    attributes: inner(table, 'attribute').map((one) => values(one, 'name', 'type').join(' ')),
    indexes: inner(table, 'global_secondary_index').map((one) =>
      values(one, 'name', 'hash_key', 'range_key', 'projection_type').join(' '),
    ),
    stream:
      table.attributes.stream_enabled === 'true' ? literal(table.attributes.stream_view_type) : undefined,
    ttl: ttl?.attributes.enabled === 'true' ? literal(ttl.attributes.attribute_name) : undefined,
    recovery: inner(table, 'point_in_time_recovery')[0]?.attributes.enabled === 'true',
  }
}

const IN_TEMPLATE: Record<TableRole, string> = {
  allowlists: 'AllowlistsTable',
  giant: 'GiantTable',
  idempotency: 'IdempotencyTable',
  guards: 'GuardsTable',
}

function inCloudFormation(role: TableRole): Shape {
  const table = template.Resources[IN_TEMPLATE[role]]!.Properties
  const names = (schema: { AttributeName: string }[]) => schema.map((one) => one.AttributeName)
  const [hash, range] = names(table.KeySchema)
  return {
    name: template.Parameters[table.TableName.Ref]?.Default ?? 'none',
    billing: table.BillingMode,
    key: [hash, range],
    attributes: table.AttributeDefinitions.map(
      (one: Properties) => `${one.AttributeName} ${one.AttributeType}`,
    ),
    indexes: (table.GlobalSecondaryIndexes ?? []).map((one: Properties) =>
      [one.IndexName, ...names(one.KeySchema), one.Projection.ProjectionType].join(' '),
    ),
    stream: table.StreamSpecification?.StreamViewType,
    ttl: table.TimeToLiveSpecification.Enabled ? table.TimeToLiveSpecification.AttributeName : undefined,
    recovery: table.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled,
  }
}

describe('infrastructure', () => {
  for (const role of TABLE_ROLES) {
    it(`has the table of ${role} as it is defined, in both languages`, () => {
      assert.deepEqual(inTerraform(role), defined(role))
      assert.deepEqual(inCloudFormation(role), defined(role))
    })
  }

  it('has no other tables', () => {
    const made = terraform.filter(({ labels }) => labels[0] === 'aws_dynamodb_table')
    const templated = Object.values(template.Resources).filter(({ Type }) => Type === 'AWS::DynamoDB::Table')
    assert.deepEqual([made.length, templated.length], [TABLE_ROLES.length, TABLE_ROLES.length])
  })

  it('reads streams from their beginning, in halves when one fails, and keeps what cannot be processed', () => {
    for (const [name, inTemplate] of [
      ['allowlists', 'AllowlistsMapping'],
      ['giant', 'GiantMapping'],
    ] as const) {
      const mapping = resource('aws_lambda_event_source_mapping', name)
      assert.deepEqual(
        values(mapping, 'starting_position', 'bisect_batch_on_function_error', 'function_response_types'),
        ['TRIM_HORIZON', 'true', '["ReportBatchItemFailures"]'],
      )
      assert.equal(mapping.attributes.event_source_arn, `aws_dynamodb_table.${name}.stream_arn`)
      const onFailure = inner(inner(mapping, 'destination_config')[0]!, 'on_failure')[0]!
      assert.equal(onFailure.attributes.destination_arn, 'aws_sqs_queue.dead_letters.arn')
      const {
        FunctionName: _,
        EventSourceArn: source,
        ...templated
      } = template.Resources[inTemplate]!.Properties
      assert.deepEqual(source, { 'Fn::GetAtt': [IN_TEMPLATE[name], 'StreamArn'] })
      assert.deepEqual(templated, {
        StartingPosition: 'TRIM_HORIZON',
        BatchSize: Number(mapping.attributes.batch_size),
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: Number(mapping.attributes.maximum_retry_attempts),
        MaximumRecordAgeInSeconds: Number(mapping.attributes.maximum_record_age_in_seconds),
        ParallelizationFactor: Number(mapping.attributes.parallelization_factor),
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['DeadLetters', 'Arn'] } } },
      })
    }
  })

  it('allows the same actions in both languages, none of them by wildcard', () => {
    const documents = { stream_processor: 'StreamProcessorPolicy', pod: 'PodPolicy', pod_dax: 'PodDaxPolicy' }
    for (const [name, inTemplate] of Object.entries(documents)) {
      const statements = inner(resource('aws_iam_policy_document', name), 'statement')
      const ours = statements.map(({ attributes }) => [
        literal(attributes.sid),
        parts(attributes.actions!),
        attributes.resources === '["*"]',
        attributes.resources!.endsWith('[*].arn') ? 1 : parts(attributes.resources!).length,
      ])
      const { Statement } = template.Resources[inTemplate]!.Properties.PolicyDocument
      const templated = Statement.map((one: Properties) => [
        one.Sid,
        one.Action,
        one.Resource.includes('*'),
        one.Resource.length,
      ])
      assert.deepEqual(ours, templated)
      assert.doesNotMatch(JSON.stringify(Statement.map((one: Properties) => one.Action)), /\*/)
      const anywhere = Statement.filter((one: Properties) => one.Resource.includes('*'))
      // AWS knows no resource for these two.
      const known = name === 'pod' ? [['sns:Unsubscribe', 'sqs:ListQueues']] : []
      assert.deepEqual(
        anywhere.map((one: Properties) => one.Action),
        known,
      )
    }
  })

  it('refers only to what it declares', () => {
    const text = JSON.stringify(template)
    const known = new Set([...Object.keys(template.Parameters), ...Object.keys(template.Resources)])
    const named = [
      ...text.matchAll(/"Ref":"(\w+)"/g),
      ...text.matchAll(/"Fn::GetAtt":\["(\w+)"/g),
      ...text.matchAll(/\$\{(\w+)(?:\.\w+)?\}/g),
    ].map((match) => match[1]!)
    assert.ok(named.length > 40)
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    )
    const declared = new Set(
      terraform.map(({ type, labels }) => (type === 'variable' ? `var.${labels[0]}` : labels.join('.'))),
    )
    const used = JSON.stringify(terraform).matchAll(/\b(var\.\w+|aws_\w+\.[a-z]\w*)/g)
    const missing = [...used].map((match) => match[1]!).filter((name) => !declared.has(name))
    assert.deepEqual(missing, [])
  })

  it('lets only the topic send to the queue of a pod', () => {
    const [statement, ...others] = JSON.parse(
      readFileSync(new URL('pod-queue-policy.json', deploy), 'utf8'),
    ).Statement
    assert.deepEqual(others, [])
    assert.deepEqual([statement.Action, statement.Resource], ['sqs:SendMessage', 'QUEUE_ARN'])
    assert.deepEqual(statement.Condition, { ArnEquals: { 'aws:SourceArn': 'TOPIC_ARN' } })
  })

  it('is formatted as Terraform wants it', (test) => {
    const { error, status, stdout } = spawnSync(
      'terraform',
      ['fmt', '-check', '-diff', '-recursive', directory],
      {
        encoding: 'utf8',
      },
    )
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
      test.diagnostic('terraform is not on this machine: its format was not checked')
      return
    }
    assert.equal(status, 0, stdout)
  })
})
