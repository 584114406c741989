import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory } from '../support/temporary.js'
import { serveAll } from './support.js'

// biome-ignore lint/suspicious/noExplicitAny: a document of any content.
type Json = any

const cli = join(
  dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
  'bin',
  'cli.js',
)
const RULES = fileURLToPath(new URL('../../../test/server/openapi-rules.yaml', import.meta.url))

/** Rules that the document breaks. */
function brokenRules(document: Json, folder: string): string[] {
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const args = [cli, 'lint', 'openapi.json', '--config', RULES, '--format=json']
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
  const { problems } = JSON.parse(stdout) as {
    problems: { ruleId: string; location: { pointer: string }[] }[]
  }
  return problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`)
}

/** Objects with fields that no name refers to. */
function anonymous(value: Json, path: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  const isNamed = /^#\/components\/schemas\/[^/]+$/.test(path)
  const own = value.properties !== undefined && value.$ref === undefined && !isNamed ? [path] : []
  // Examples are values, and a field may have any name.
  const inner = Object.entries(value).filter(([key]) => key !== 'examples')
  return [...own, ...inner.flatMap(([key, each]) => anonymous(each, `${path}/${key}`))]
}

describe('the OpenAPI document', () => {
  const server = serveAll()
  const folder = temporaryDirectory()
  const read = async (): Promise<Json> => (await server().call('GET', '/openapi.json')).json

  it('keeps the rules of a linter', async () => {
    assert.deepEqual(brokenRules(await read(), folder), [])
  })

  it('would be found wrong', async () => {
    const document = await read()
    delete document.paths['/check'].post.operationId
    document.components.schemas.Problem.examples[0].code = 'NONE'
    const broken = brokenRules(document, folder).map((one) => one.split(' ')[0])
    assert.deepEqual([...new Set(broken)].sort(), ['no-invalid-schema-examples', 'operation-operationId'])
  })

  it('names every shape, and lists the codes of problems', async () => {
    const document = await read()
    assert.deepEqual(anonymous(document, '#'), [])
    assert.ok(document.components.schemas.AcquireRequest.properties.entity)
    assert.ok(document.components.schemas.Problem.properties.code.enum.includes('QUOTA_EXCEEDED'))
    const { 200: replayed, 201: claimed } = document.paths['/idempotency/{operation}/{key}'].post.responses
    const nameOf = ({ content }: Json) => content['application/json'].schema.$ref
    assert.notEqual(nameOf(replayed), nameOf(claimed))
  })
})
