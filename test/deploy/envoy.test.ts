import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { loadSync } from '@grpc/proto-loader'
import { parse } from 'yaml'
import { ENVOY_FOLDERS } from '../server/grpc/support.js'

const HCM = 'envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto'
const loaded = loadSync(
  [
    'envoy/config/bootstrap/v3/bootstrap.proto',
    HCM,
    'envoy/extensions/filters/http/router/v3/router.proto',
    'envoy/extensions/filters/http/ext_authz/v3/ext_authz.proto',
    'envoy/extensions/filters/http/jwt_authn/v3/config.proto',
    'envoy/extensions/filters/http/ratelimit/v3/rate_limit.proto',
    'envoy/extensions/upstreams/http/v3/http_protocol_options.proto',
  ],
  { includeDirs: [...ENVOY_FOLDERS], keepCase: true },
) as unknown as Record<string, { type?: Message }>

interface Field {
  name: string
  type: string
  label: string
  typeName: string
}
interface Message {
  name: string
  field?: Field[]
  value?: { name: string }[]
  nestedType?: Message[]
  enumType?: Message[]
}

/** All types by their full names. */
const described: Record<string, Message> = {}
function describeAll(name: string, type: Message): void {
  described[name] = type
  for (const inner of [...(type.nestedType ?? []), ...(type.enumType ?? [])])
    describeAll(`${name}.${inner.name}`, inner)
}
for (const [name, { type }] of Object.entries(loaded)) if (type !== undefined) describeAll(name, type)

/** What a name in a message means: a type in it, beside it, or anywhere. */
function typeNamed(name: string, within: string): [string, Message] | undefined {
  const bare = name.replace(/^\./, '')
  for (let scope = within; ; scope = scope.replace(/\.?[^.]*$/, '')) {
    const full = scope === '' ? bare : `${scope}.${bare}`
    const type = described[full]
    if (type !== undefined) return [full, type]
    if (scope === '') return undefined
  }
}

/** Values without a description of their own here, such as durations. */
const PLAIN = /^google\.protobuf\.(Duration|\w+Value|Struct)$/

/** The fields of a configuration that the description does not have. */
function unknownFields(given: unknown, name: string, path: string): string[] {
  if (typeof given !== 'object' || given === null) return []
  const { '@type': url, ...fields } = given as Record<string, unknown>
  const own = typeof url === 'string' ? url.replace('type.googleapis.com/', '') : name
  if (PLAIN.test(own)) return []
  const type = described[own]
  if (type === undefined) return [`${path}: no ${own}`]
  return Object.entries(fields).flatMap(([key, value]) => {
    const field = type.field?.find((one) => one.name === key)
    if (field === undefined) return [`${path}.${key}`]
    return unknownIn(value, field, own, `${path}.${key}`)
  })
}

function unknownIn(value: unknown, field: Field, within: string, path: string, isItem = false): string[] {
  if (Array.isArray(value)) {
    if (field.label !== 'LABEL_REPEATED') return [`${path}: no list`]
    return value.flatMap((item, i) => unknownIn(item, field, within, `${path}[${i}]`, true))
  }
  if (typeof value === 'object' && value !== null && '@type' in value) return unknownFields(value, '', path)
  if (field.label === 'LABEL_REPEATED' && !isItem && typeof value === 'object' && value !== null) {
    // A map, which the loader describes as a list of entries with a key and a value.
    const [entry, { field: fields = [] } = {}] = typeNamed(field.typeName, within) ?? []
    const valueField = fields.find((one) => one.name === 'value')
    if (entry === undefined || valueField === undefined) return [`${path}: no map`]
    return Object.entries(value).flatMap(([key, inner]) =>
      unknownIn(inner, valueField, entry, `${path}.${key}`, true),
    )
  }
  const found = typeNamed(field.typeName, within)
  if (found === undefined) {
    if (PLAIN.test(field.typeName) || field.typeName === '') return []
    return [`${path}: no ${field.typeName} in ${within}`]
  }
  const [name, type] = found
  if (type.value !== undefined)
    return type.value.some((one) => one.name === value) ? [] : [`${path}: ${value} is no ${name}`]
  return unknownFields(value, name, path)
}

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap'
const text = readFileSync(new URL('../../../deploy/envoy/envoy.yaml', import.meta.url), 'utf8')

describe('the configuration for Envoy', () => {
  it('has only fields that Envoy describes', () => {
    assert.deepEqual(unknownFields(parse(text), BOOTSTRAP, ''), [])
  })

  it('would be found wrong', () => {
    for (const [right, wrong] of [
      ['failure_mode_allow', 'failure_mode_alow'],
      ['descriptor_key: path', 'descriptor: path'],
      ['port_value: 8081', 'port: 8081'],
      ['type: STATIC', 'type: STATICAL'],
      ['local_jwks', 'local_jwk'],
      ['provider_name: issuer', 'provider: issuer'],
      ['filters.http.router.v3.Router', 'filters.http.router.v3.Rooter'],
    ] as const) {
      assert.ok(text.includes(right), right)
      const changed = parse(text.replace(right, wrong))
      assert.notDeepEqual(unknownFields(changed, BOOTSTRAP, ''), [], wrong)
    }
  })

  it('takes customers, tenants and routes from nothing that a client can write', () => {
    assert.doesNotMatch(text, /header_name|header:/)
    assert.match(text, /payload_in_metadata: jwt_payload\n/)
    assert.match(text, /metadata_context_namespaces: \[envoy\.filters\.http\.jwt_authn\]/)
    const filters = [...text.matchAll(/- name: envoy\.filters\.http\.(\w+)/g)].map(([, name]) => name)
    assert.deepEqual(filters, ['jwt_authn', 'ext_authz', 'ratelimit', 'router'])
  })

  it('names the domain and the keys of the guide, and asks Catraca for both', () => {
    const guide = readFileSync(new URL('../../../docs/guides/sidecar.md', import.meta.url), 'utf8')
    assert.match(text, /domain: edge\n/)
    const keys = [...text.matchAll(/descriptor_key: (\w+)/g)].map(([, key]) => key)
    assert.ok(guide.includes(`edge.${keys.join('.')}`))
    assert.equal(text.match(/cluster_name: catraca \}/g)?.length, 2)
  })
})
