import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifyServerOptions } from 'fastify'

type BuildSerializer = NonNullable<
  NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>['buildSerializer']
>
type Serialize = (answer: unknown) => string

/**
 * Serializes responses by their schemas. A schema is compiled when its first response is sent, and once for all
 * routes that share it: the routes declare 250 responses, most are the same few problems, and most are never sent.
 */
export const buildSerializer: BuildSerializer = (shared, options) => {
  const compile = SerializerSelector()(shared, options)
  const compiled = new Map<string, Serialize>()
  return (route) => {
    const name = JSON.stringify(route.schema)
    let serialize: Serialize | undefined
    return (answer: unknown) => {
      if (serialize === undefined) {
        serialize = compiled.get(name) ?? (compile(route) as Serialize)
        compiled.set(name, serialize)
      }
      return serialize(answer)
    }
  }
}
