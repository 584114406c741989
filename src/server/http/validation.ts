import type { FastifySchemaCompiler } from 'fastify'
import { CatracaError, type FieldError } from '../../core/errors.js'
import type { TSchema } from '../../wire/typebox.js'
import { Compile } from '../../wire/typebox.js'

/**
 * With more values than this, the response does not list the faults: listing all faults of a huge hostile body would
 * cost far more than refusing it.
 */
const MAX_VALUES_EXPLAINED = 5_000
const WHOLE_NUMBER = /^\d{1,15}$/

type Verdict = { value: unknown } | { error: Error }

/** Validates the shape of requests. Only numbers in a query are coerced, because a query has only text. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema)
  const numbers = httpPart === 'querystring' ? integersIn(schema) : []
  return (input: unknown): Verdict => {
    const value = numbers.length === 0 ? input : withNumbers(numbers, input)
    if (validator.Check(value)) return { value }
    if (countUpTo(value, MAX_VALUES_EXPLAINED) >= MAX_VALUES_EXPLAINED) {
      return { error: refusal([{ path: httpPart ?? 'body', message: 'has the wrong shape' }]) }
    }
    return { error: refusal(toFieldErrors(validator.Errors(value), httpPart)) }
  }
}

interface SchemaError {
  keyword: string
  instancePath: string
  message: string
  params: { requiredProperties?: string[]; allowedValues?: unknown[] }
}

function integersIn(schema: TSchema): string[] {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> }
  return Object.keys(properties).filter((name) => properties[name]!.type === 'integer')
}

function withNumbers(names: readonly string[], query: unknown): unknown {
  const values = { ...(query as Record<string, unknown>) }
  for (const name of names) {
    const text = values[name]
    if (typeof text === 'string' && WHOLE_NUMBER.test(text)) values[name] = Number(text)
  }
  return values
}

function toFieldErrors(errors: readonly unknown[], httpPart: string | undefined): FieldError[] {
  const found: FieldError[] = []
  for (const error of errors as SchemaError[]) {
    const path = toPath(error.instancePath)
    if (error.keyword === 'required') {
      for (const name of error.params.requiredProperties ?? []) {
        found.push({ path: join(path, name), message: 'is required' })
      }
    } else if (error.keyword === 'boolean') {
      found.push({ path, message: 'is not a known field' })
    } else if (error.keyword === 'enum') {
      found.push({ path, message: `must be one of ${(error.params.allowedValues ?? []).join(', ')}` })
    } else if (error.keyword !== 'additionalProperties') {
      // `additionalProperties` only repeats the errors of the `boolean` keyword.
      found.push({ path: path === '' ? (httpPart ?? 'body') : path, message: error.message })
    }
  }
  return found
}

function refusal(errors: FieldError[]): CatracaError {
  const [first] = errors
  return new CatracaError('INVALID_INPUT', `${first?.path} ${first?.message}`, { errors })
}

/** `/ramp/0/at` as `ramp[0].at`. */
function toPath(pointer: string): string {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return parts.reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), '')
}

function join(path: string, name: string): string {
  const shown = name.length > 64 ? `${name.slice(0, 64)}…` : name
  return path === '' ? shown : `${path}.${shown}`
}

/** Counts the values in a JSON value, and stops at the limit. */
function countUpTo(root: unknown, limit: number): number {
  let count = 0
  const waiting = [root]
  while (waiting.length > 0 && count < limit) {
    const value = waiting.pop()
    count++
    if (typeof value !== 'object' || value === null) continue
    for (const child of Object.values(value)) {
      if (waiting.length + count >= limit) return limit
      waiting.push(child)
    }
  }
  return count
}
