// Writes the published types of the client: dist/src/client/generated.d.ts. The compiler would publish types that are
// inferred from the schemas. They are equal, but an editor would show neither descriptions of fields nor short types,
// and whoever uses the client would load the types of the schema library.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { comment, inputField, typeOf } from './client-types.mjs'
import { answerOf, camel, capital, isRequired, signature, sorted } from './wire-operations.mjs'

export async function writeClientDeclarations(output) {
  const { WIRE, RESOURCES } = await import(pathToFileURL(join(output, 'src', 'wire', 'index.js')).href)
  const resources = Object.entries(RESOURCES).map(
    ([name, schema]) => `${comment(schema.description, '')}export type ${name} = ${typeOf(schema)}\n`,
  )
  const operations = sorted(WIRE)
  const content = [
    "import type { CallOptions, OperationFacts, StreamBody } from './operation.js'\n",
    ...resources,
    ...operations.map(([id, operation]) => types(id, operation)),
    `/** One method for each operation of the API. */\nexport interface Operations {\n${operations.map(([id, operation]) => signature(id, operation)).join('')}}\n`,
    '/** What the methods send, and where. */\nexport declare const OPERATIONS: Record<keyof Operations, OperationFacts>\n',
  ].join('\n')
  writeFileSync(join(output, 'src', 'client', 'generated.d.ts'), content)
}

function types(id, operation) {
  const fields = inputFields(operation)
  const input = fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('')}}`
  return `export type ${capital(id)}Input = ${input}\nexport type ${capital(id)}Answer = ${answerType(operation)}\n`
}

function inputFields({ params = {}, query = {}, headers = {}, body, consumes, answers }) {
  const fields = [params, query, headers].flatMap((part) =>
    Object.entries(part).map(([name, schema]) =>
      inputField(camel(name), schema, isRequired(schema), schema.description),
    ),
  )
  if (body) fields.push(inputField('body', body, (body.required ?? []).length > 0))
  if (consumes) fields.push('  body: StreamBody\n', inputField('contentType', { enum: consumes }, true))
  const { streams } = answerOf(answers)
  if (streams.length > 1) fields.push(inputField('accept', { enum: streams }, false))
  return fields
}

function answerType({ answers }) {
  const { schemas, streams } = answerOf(answers)
  if (streams.length > 0) return 'Response'
  return schemas.length === 0
    ? 'undefined'
    : [...new Set(schemas.map((schema) => typeOf(schema)))].join(' | ')
}
