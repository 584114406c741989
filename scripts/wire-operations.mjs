// What the scripts that write the client have in common: how they read and name the operations of src/wire.

export const camel = (header) => header.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())
export const capital = (id) => id[0].toUpperCase() + id.slice(1)
/** TypeBox marks optional fields by a property that is not enumerable. */
export const isRequired = (field) => !('~optional' in field)
export const sorted = (wire) => Object.entries(wire).sort(([a], [b]) => (a < b ? -1 : 1))

/** Method, and path as OpenAPI writes it. */
export function placeOf({ route }) {
  const [method, path] = route.split(' ')
  return { method, path: path.replace(/:(\w+)/g, '{$1}') }
}

/** The JSON schemas or the media types of what an operation answers when it succeeds. */
export function answerOf(answers) {
  const bodies = Object.entries(answers)
    .filter(([status, answer]) => status.startsWith('2') && Array.isArray(answer))
    .map(([, [, body]]) => body)
  return {
    schemas: bodies.filter((body) => !Array.isArray(body)),
    streams: bodies.filter(Array.isArray).flat(),
  }
}

export function signature(id, operation) {
  const { params, query = {}, body, consumes, summary } = operation
  const isOptional =
    !params && !consumes && !Object.values(query).some(isRequired) && (body?.required ?? []).length === 0
  const { method, path } = placeOf(operation)
  const input = `input${isOptional ? '?' : ''}: ${capital(id)}Input`
  return `  /** ${summary}: \`${method} ${path}\` */\n  ${id}(${input}, options?: CallOptions): Promise<${capital(id)}Answer>\n`
}
