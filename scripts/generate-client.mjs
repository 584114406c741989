// Generates src/client/generated.ts from the OpenAPI document of the compiled server. `--check` writes nothing, and
// fails when the file is stale; `--dist DIRECTORY` uses another directory than dist/.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { comment, inputField, typeOf } from './client-types.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const file = join(root, 'src', 'client', 'generated.ts')
const { values: options } = parseArgs({
  options: { check: { type: 'boolean' }, dist: { type: 'string', default: join(root, 'dist') } },
})
const load = (path) => import(pathToFileURL(join(resolve(options.dist), 'src', path)).href)

/** Builds the server without listening, to read its OpenAPI document. */
async function readDocument() {
  const [{ openCatraca }, { buildServer }, { createLogger }] = await Promise.all([
    load('index.js'),
    load('server/app.js'),
    load('server/http/logger.js'),
  ])
  const catraca = await openCatraca({ store: 'memory:' })
  const { app } = await buildServer(catraca, { logger: createLogger('silent') })
  const document = app.swagger()
  await app.close()
  await catraca.close()
  return document
}

const camel = (header) => header.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())
const quoted = (names) => `[${names.map((name) => `'${name}'`).join(', ')}]`

function readOperation(method, path, { operationId, summary, parameters = [], requestBody, responses }) {
  if (!/^[a-z]\w+$/.test(operationId ?? '')) throw new Error(`${method} ${path} has no operationId`)
  const good = Object.entries(responses).filter(([status]) => /^2/.test(status))
  const contents = good.flatMap(([, { content = {} }]) => Object.entries(content))
  const bodies = Object.entries(requestBody?.content ?? {})
  return {
    ...{ id: operationId, summary, method: method.toUpperCase(), path, parameters },
    json: contents.filter(([type]) => type === 'application/json').map(([, { schema }]) => schema),
    streams: contents.map(([type]) => type).filter((type) => type !== 'application/json'),
    isEmpty: contents.length === 0,
    jsonBody: bodies.find(([type]) => type === 'application/json')?.[1].schema,
    bodyTypes: bodies.map(([type]) => type).filter((type) => type !== 'application/json'),
  }
}

function answerType({ isEmpty, json, streams }) {
  if (isEmpty) return 'undefined'
  if (streams.length > 0) return 'Response'
  return [...new Set(json.map((schema) => typeOf(schema)))].join(' | ')
}

function inputFields({ parameters, jsonBody, bodyTypes, streams }) {
  const places = ['path', 'query', 'header']
  const fields = [...parameters]
    .sort((a, b) => places.indexOf(a.in) - places.indexOf(b.in))
    .map(({ name, schema, required, description }) => inputField(camel(name), schema, required, description))
  if (jsonBody) fields.push(inputField('body', jsonBody, (jsonBody.required ?? []).length > 0))
  if (bodyTypes.length > 0) {
    fields.push('  body: StreamBody\n', inputField('contentType', { enum: bodyTypes }, true))
  }
  if (streams.length > 1) fields.push(inputField('accept', { enum: streams }, false))
  return fields
}

const isNeeded = (field) => /^ {2}['\w-]+: /m.test(field)
const capital = (id) => id[0].toUpperCase() + id.slice(1)

function types(operation) {
  const name = capital(operation.id)
  const fields = inputFields(operation)
  const input = fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('')}}`
  return `export type ${name}Input = ${input}\nexport type ${name}Answer = ${answerType(operation)}\n`
}

function signature(operation) {
  const name = capital(operation.id)
  const isOptional = !inputFields(operation).some(isNeeded)
  const { id, summary, method, path } = operation
  const told = comment(`${summary}: \`${method} ${path}\``, '  ')
  return `${told}  ${id}(input${isOptional ? '?' : ''}: ${name}Input, options?: CallOptions): Promise<${name}Answer>\n`
}

function row({ id, method, path, parameters, jsonBody, bodyTypes, isEmpty, streams }) {
  const named = (place) => parameters.filter((parameter) => parameter.in === place).map(({ name }) => name)
  const facts = [`method: '${method}'`, `path: '${path}'`]
  if (named('query').length > 0) facts.push(`query: ${quoted(named('query'))}`)
  if (named('header').length > 0) {
    facts.push(
      `headers: { ${named('header')
        .map((name) => `${camel(name)}: '${name}'`)
        .join(', ')} }`,
    )
  }
  if (jsonBody) facts.push("body: 'json'")
  if (bodyTypes.length > 0) facts.push("body: 'stream'")
  if (streams.length > 0) facts.push(`answer: 'stream', accept: ${quoted(streams)}`)
  else if (isEmpty) facts.push("answer: 'none'")
  return `  ${id}: { ${facts.join(', ')} },\n`
}

function render({ paths, components }) {
  const operations = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => readOperation(method, path, operation)),
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const twice = operations.find(({ id }, i) => id === operations[i + 1]?.id)
  if (twice) throw new Error(`two routes are called ${twice.id}`)
  const shared = Object.entries(components.schemas).map(
    ([name, schema]) => `${comment(schema.description, '')}export type ${name} = ${typeOf(schema)}\n`,
  )
  return [
    '// Generated by `npm run docs` from the OpenAPI document: change the routes, not this file.\n' +
      "import type { CallOptions, OperationFacts, StreamBody } from './operation.js'\n",
    ...shared,
    ...operations.map(types),
    `/** One method for each operation of the API. */\nexport interface Operations {\n${operations.map(signature).join('')}}\n`,
    `/** What the methods send, and where. */\nexport const OPERATIONS: Record<keyof Operations, OperationFacts> = {\n${operations.map(row).join('')}}\n`,
  ].join('\n')
}

const content = render(await readDocument())
if (!options.check) writeFileSync(file, content)
else if (readFileSync(file, 'utf8') !== content) {
  console.error('src/client/generated.ts is not what the routes say: run "npm run docs"')
  process.exitCode = 1
}
