import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadSync } from '@grpc/proto-loader'
import { theirs } from './support.js'

const FOLDER = fileURLToPath(new URL('../../../src/server/grpc/protos', import.meta.url))
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.proto'),
)
const ours = loadSync(files, { includeDirs: [FOLDER], keepCase: true, enums: String })

interface Field {
  name: string
  number: number
  type: string
  label: string
  typeName: string
}
interface Type {
  name: string
  field?: Field[]
  value?: { name: string; number: number }[]
  nestedType?: Type[]
  enumType?: Type[]
}
interface Method {
  path: string
  requestStream: boolean
  responseStream: boolean
  requestType: { type: Type }
  responseType: { type: Type }
}

/** Envoy 1.33 added these, after the version whose files the package has. */
const NEWER = [
  'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.hits_addend',
  'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.is_negative_hits',
]

const last = (name: string): string => name.split('.').at(-1)!

/** Fields and values that a type of ours has, and theirs has not, or has otherwise. */
function differences(mine: Type, their: Type, path: string): string[] {
  const fields = (mine.field ?? []).flatMap((field) => {
    const same = their.field?.find(({ name }) => name === field.name)
    const facts = (one: Field) => [one.number, one.type, one.label, last(one.typeName ?? '')].join(' ')
    return same !== undefined && facts(same) === facts(field) ? [] : [`${path}.${field.name}`]
  })
  const values = (mine.value ?? []).flatMap(({ name, number }) => {
    const same = their.value?.find((one) => one.name === name)
    return same?.number === number ? [] : [`${path}.${name}`]
  })
  const inner = (['nestedType', 'enumType'] as const).flatMap((kind) =>
    (mine[kind] ?? []).flatMap((type) => {
      const same = their[kind]?.find(({ name }) => name === type.name)
      return same === undefined ? [`${path}.${type.name}`] : differences(type, same, `${path}.${type.name}`)
    }),
  )
  return [...fields, ...values, ...inner]
}

describe('our descriptions', () => {
  it('are Envoy’s and gRPC’s, with fewer fields', () => {
    const compared = Object.entries(ours as unknown as Record<string, object>).flatMap(([name, mine]) => {
      const their = (theirs as unknown as Record<string, object>)[name]
      assert.ok(their, `${name} is not theirs`)
      if ('type' in mine) {
        const different = differences(mine.type as Type, (their as { type: Type }).type, name)
        assert.deepEqual(
          different.filter((field) => !NEWER.includes(field)),
          [],
        )
        return [name]
      }
      const methods = mine as Record<string, Method>
      for (const [
        method,
        { path, requestStream, responseStream, requestType, responseType },
      ] of Object.entries(methods)) {
        const same: Method = (their as Record<string, Method>)[method]!
        assert.deepEqual(
          [path, requestStream, responseStream, requestType.type.name, responseType.type.name],
          [
            same.path,
            same.requestStream,
            same.responseStream,
            same.requestType.type.name,
            same.responseType.type.name,
          ],
        )
      }
      return [name]
    })
    assert.ok(compared.length > 20, `${compared.length} types`)
  })

  it('would be found to differ', () => {
    const field = { name: 'domain', number: 1, type: 'TYPE_STRING', label: 'LABEL_OPTIONAL', typeName: '' }
    const type = { name: 'Request', field: [field] }
    assert.deepEqual(differences(type, type, 'Request'), [])
    const renumbered = { name: 'Request', field: [{ ...field, number: 2 }] }
    assert.deepEqual(differences(renumbered, type, 'Request'), ['Request.domain'])
  })
})
