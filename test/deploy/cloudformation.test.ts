import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { RESOURCE_TYPES } from '../support/cloudformation-types.js'
import { literal, readModule } from '../support/dynamodb-hcl.js'

const deploy = new URL('../../../deploy/', import.meta.url)
const terraform = readModule(fileURLToPath(new URL('terraform', deploy)))
// biome-ignore lint/suspicious/noExplicitAny: a template has no type.
type Any = any
const template: Any = JSON.parse(readFileSync(new URL('cloudformation/catraca.json', deploy), 'utf8'))
const resources = Object.entries<Any>(template.Resources)

/** Every object within a value, itself included. */
function* objectsIn(value: Any): Generator<Any> {
  if (typeof value !== 'object' || value === null) return
  yield value
  for (const inner of Object.values(value)) yield* objectsIn(inner)
}

/** Logical ids that a value asks for, those behind Fn::If left out. */
function namedIn(value: Any): string[] {
  if (typeof value !== 'object' || value === null) return []
  if ('Fn::If' in value) return []
  if (typeof value.Ref === 'string') return [value.Ref]
  if ('Fn::GetAtt' in value) return [value['Fn::GetAtt'][0]]
  if (typeof value['Fn::Sub'] === 'string')
    return [...value['Fn::Sub'].matchAll(/\$\{(\w+)(?:\.\w+)?\}/g)].map((match) => match[1]!)
  return Object.values(value).flatMap(namedIn)
}

describe('CloudFormation template', () => {
  it('gives resources only properties that their types have, and all that they must have', () => {
    for (const [name, { Type, Properties }] of resources) {
      const known = RESOURCE_TYPES[Type] ?? assert.fail(`${name}: what is a ${Type}?`)
      const given = Object.keys(Properties)
      const wrong = given.filter((one) => ![...known.required, ...known.optional].includes(one))
      const missing = known.required.filter((one) => !given.includes(one))
      assert.deepEqual({ wrong, missing }, { wrong: [], missing: [] }, name)
    }
  })

  it('asks resources only for attributes that they have', () => {
    const asked = [...objectsIn(template)].flatMap((one) => (one['Fn::GetAtt'] ? [one['Fn::GetAtt']] : []))
    const substituted = [...JSON.stringify(template).matchAll(/\$\{(\w+)\.(\w+)\}/g)]
    for (const [name, attribute] of [...asked, ...substituted.map(([, one, two]) => [one, two])]) {
      const { attributes } =
        RESOURCE_TYPES[template.Resources[name]?.Type] ?? assert.fail(`no resource ${name}`)
      assert.ok(attributes.includes(attribute), `${name}.${attribute}`)
    }
    assert.ok(asked.length > 15)
  })

  it('uses conditions that it declares, and what a condition makes only under the same one', () => {
    const conditions = Object.keys(template.Conditions)
    const users = [...resources, ...Object.entries<Any>(template.Outputs)]
    for (const [name, one] of users) {
      if (one.Condition !== undefined) assert.ok(conditions.includes(one.Condition), name)
      for (const target of namedIn(one.Properties ?? one.Value)) {
        const needed = template.Resources[target]?.Condition
        if (needed !== undefined) assert.equal(one.Condition, needed, `${name} asks for ${target}`)
      }
    }
    for (const one of objectsIn(template))
      if ('Fn::If' in one) assert.ok(conditions.includes(one['Fn::If'][0]))
  })

  it('uses every parameter, and has a default for all that need not be known', () => {
    const text = JSON.stringify(template)
    for (const [name, { Type, Default, Description }] of Object.entries<Any>(template.Parameters)) {
      assert.ok(text.includes(`{"Ref":"${name}"}`) || text.includes(`\${${name}}`), name)
      assert.match(Type, /^(String|Number|CommaDelimitedList)$/)
      assert.ok(Description.length > 10)
      assert.equal(Default === undefined, name.startsWith('StreamProcessor'), name)
    }
  })

  it('tells the same as the Terraform module, and takes the same defaults', () => {
    const pascal = (name: string) => name.replace(/(^|_)(\w)/g, (_, __, letter) => letter.toUpperCase())
    const outputs = terraform.filter(({ type }) => type === 'output').map(({ labels }) => pascal(labels[0]!))
    assert.deepEqual(outputs.sort(), Object.keys(template.Outputs).sort())
    for (const { labels, attributes } of terraform.filter(({ type }) => type === 'variable')) {
      const parameter =
        template.Parameters[pascal(labels[0]!)] ?? template.Parameters[`${pascal(labels[0]!)}Name`]
      const own = literal(attributes.default)
      if (parameter !== undefined && own !== '[]') assert.equal(String(parameter.Default), own, labels[0])
    }
  })

  it('protects what cannot be made again', () => {
    for (const [name, one] of resources.filter(([, { Type }]) => Type === 'AWS::DynamoDB::Table')) {
      assert.deepEqual([one.DeletionPolicy, one.UpdateReplacePolicy], ['Retain', 'Retain'], name)
      assert.equal(one.Properties.DeletionProtectionEnabled, true, name)
    }
  })

  it('lets trusted services take roles, and nobody else', () => {
    for (const [name, { Type, Properties }] of resources) {
      if (Type !== 'AWS::IAM::Role') continue
      for (const { Effect, Principal } of Properties.AssumeRolePolicyDocument.Statement)
        assert.deepEqual([Effect, Object.keys(Principal)], ['Allow', ['Service']], name)
    }
  })
})
