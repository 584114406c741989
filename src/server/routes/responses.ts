import type { App } from '../http/context.js'
import type { TSchema } from '../http/typebox.js'
import * as schemas from './allowlist/schemas.js'

/** Schemas that several routes share, named in the OpenAPI document. */
const SHARED = {
  Allowlist: schemas.allowlist,
  Member: schemas.member,
  CheckAnswer: schemas.checkAnswer,
  ImportResult: schemas.importResult,
  ImportStatus: schemas.importStatus,
  Problem: schemas.problem,
} as const

export function addSharedSchemas(app: App): void {
  for (const [name, schema] of Object.entries(SHARED)) app.addSchema({ $id: name, ...schema })
}

export function shared(name: keyof typeof SHARED): TSchema {
  return { $ref: `${name}#` } as TSchema
}

interface Answer {
  description: string
  schema: TSchema
  type?: string
}

/** Adds the problem response, which every route can send. */
export function answers(byStatus: Record<number, Answer>): Record<string, unknown> {
  const documented = Object.entries(byStatus).map(([status, { description, schema, type }]) => [
    status,
    { description, content: { [type ?? 'application/json']: { schema } } },
  ])
  return { ...Object.fromEntries(documented), '4xx': problem('Refused'), '5xx': problem('Failed') }
}

/** A response without a body. */
export const empty = (description: string) => ({ type: 'null', description })

function problem(description: string): unknown {
  return { description, content: { 'application/problem+json': { schema: shared('Problem') } } }
}
