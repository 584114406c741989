// Converts JSON Schema to TypeScript types.

const isName = (text) => /^[A-Za-z_$][\w$]*$/.test(text)
const property = (name) => (isName(name) ? name : `'${name}'`)
const literal = (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value))

/** An end of comment in a description must not end the comment. */
export function comment(text, indent) {
  return text ? `${indent}/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n` : ''
}

export function typeOf(schema, indent = '') {
  if (schema === undefined) return 'unknown'
  if (schema.$ref) return schema.$ref.replace('#', '')
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map((choice) => typeOf(choice, indent)).join(' | ')
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ')
  return SIMPLE[schema.type]?.(schema, indent) ?? 'unknown'
}

const SIMPLE = {
  string: () => 'string',
  integer: () => 'number',
  number: () => 'number',
  boolean: () => 'boolean',
  null: () => 'null',
  array: ({ items }, indent) => {
    const item = typeOf(items, indent)
    return /[|&]/.test(item.replace(/\{[\s\S]*\}/, '')) ? `(${item})[]` : `${item}[]`
  },
  object: objectType,
}

function objectType({ properties, required = [], additionalProperties }, indent) {
  const fields = Object.entries(properties ?? {})
  if (fields.length === 0) {
    if (additionalProperties === false) return 'Record<string, never>'
    const isAny = additionalProperties === undefined || additionalProperties === true
    return `Record<string, ${isAny ? 'unknown' : typeOf(additionalProperties, indent)}>`
  }
  const inner = `${indent}  `
  const lines = fields.map(
    ([name, field]) =>
      `${comment(field.description, inner)}${inner}${property(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field, inner)}\n`,
  )
  // Extension members that the document does not name.
  if (additionalProperties === true) lines.push(`${inner}[fact: string]: unknown\n`)
  return `{\n${lines.join('')}${indent}}`
}

/** Fields of an input: a field that is undefined counts as absent. */
export function inputField(name, schema, isRequired, description) {
  const type = typeOf(schema, '  ')
  const optional = isRequired ? `: ${type}` : `?: ${type} | undefined`
  return `${comment(description, '  ')}  ${property(name)}${optional}\n`
}
