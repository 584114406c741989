import { ERROR_CODES } from '../../core/errors.js'

/** A schema, or a part of the document, as the framework writes it. */
type Json = { [key: string]: unknown }

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const METHODS = ['get', 'put', 'post', 'patch', 'delete']
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
/** Plurals of fields whose items get a name. */
const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/(?<!s)s$/, '')

/**
 * Names every shape of the document. Generators of clients name anonymous ones by themselves, each in its own way, and
 * the names change when another operation comes before.
 */
export class NamedShapes {
  private readonly texts = new Map<string, string>()

  constructor(private readonly schemas: Json) {
    for (const [name, schema] of Object.entries(schemas)) {
      this.texts.set(name, JSON.stringify(schema))
    }
  }

  /** The resources that have names already: what is in them gets names too. */
  nameResources(): void {
    for (const [name, schema] of Object.entries({ ...this.schemas })) {
      this.schemas[name] = this.within(schema as Json, name)
    }
  }

  /** A reference to the shape, or the schema itself where it has none. */
  named(schema: unknown, name: string): unknown {
    if (!isObject(schema)) return schema
    const inner = this.within(schema, name)
    if (!isObject(inner.properties)) return inner
    return { $ref: `#/components/schemas/${this.add(inner, name)}` }
  }

  private within(schema: Json, name: string): Json {
    const { properties, items, additionalProperties, anyOf, oneOf } = schema
    const variants = (of: unknown) =>
      Array.isArray(of) ? of.map((one, i) => this.named(one, `${name}Variant${i + 1}`)) : of
    return {
      ...schema,
      ...(isObject(properties) && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([key, value]) => [key, this.named(value, name + capital(key))]),
        ),
      }),
      ...(items !== undefined && { items: this.named(items, singular(name)) }),
      ...(isObject(additionalProperties) && {
        additionalProperties: this.named(additionalProperties, `${name}Value`),
      }),
      ...(anyOf !== undefined && { anyOf: variants(anyOf) }),
      ...(oneOf !== undefined && { oneOf: variants(oneOf) }),
    }
  }

  private add(schema: Json, wanted: string): string {
    const text = JSON.stringify(schema)
    let name = wanted.replaceAll(/[^A-Za-z0-9]/g, '')
    while (this.texts.has(name) && this.texts.get(name) !== text) name += 'Of'
    this.texts.set(name, text)
    this.schemas[name] = schema
    return name
  }
}

/** The document as generators of clients need it. */
export function forGenerators(document: object): object {
  const whole = structuredClone(document) as Json
  const components = whole.components as { schemas: Json }
  const shapes = new NamedShapes(components.schemas)
  shapes.nameResources()
  for (const path of Object.values(whole.paths as Json)) {
    for (const method of METHODS) nameOperation((path as Json)[method], shapes)
  }
  describeProblems(components.schemas.Problem as Json)
  return { ...whole, servers: [{ url: '/' }] }
}

interface Content {
  content?: Record<string, { schema?: unknown }>
}

function nameOperation(operation: unknown, shapes: NamedShapes): void {
  if (!isObject(operation)) return
  const id = capital(String(operation.operationId))
  const nameIn = ({ content = {} }: Content, name: string) => {
    for (const media of Object.values(content)) {
      if (media.schema !== undefined) media.schema = shapes.named(media.schema, name)
    }
  }
  nameIn((operation.requestBody ?? {}) as Content, `${id}Request`)
  const responses = Object.entries(operation.responses as Record<string, Content>)
  const answers = responses.filter(([status]) => /^2\d\d$/.test(status))
  // Several answers have a name each, so that their types differ.
  for (const [status, response] of responses) {
    nameIn(response, answers.length > 1 ? `${id}${status}Response` : `${id}Response`)
  }
  for (const parameter of (operation.parameters ?? []) as { schema?: unknown; name: string }[]) {
    parameter.schema = shapes.named(parameter.schema, id + capital(parameter.name))
  }
}

function describeProblems(problem: Json): void {
  const { code } = problem.properties as { code: Json }
  code.enum = Object.keys(ERROR_CODES)
  problem.examples = [
    {
      type: 'urn:catraca:error:LOCK_HELD',
      title: ERROR_CODES.LOCK_HELD.replaceAll('`', ''),
      status: 409,
      detail: 'the lock report is held; try again in 1200 ms',
      code: 'LOCK_HELD',
      retryAfterMs: 1200,
      requestId: 'req-1',
    },
  ]
}
