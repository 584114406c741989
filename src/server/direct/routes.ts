import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../../guards/access/scopes.js'
import type { Operation } from '../../wire/operation.js'
import { Compile, Type } from '../../wire/typebox.js'

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown
type Serialize = (answer: unknown) => string
/** Makes the serializer of an answer, as the framework does. */
export type CompileSerializer = (route: { schema: unknown; httpStatus: string }) => Serialize

/** An operation that may be called without the framework. */
export interface DirectRoute {
  readonly method: string
  /** The pattern. */
  readonly url: string
  readonly scope: Scope
  readonly hasBody: boolean
  readonly hasLists: boolean
  /** Of an answer whose handler sets none. */
  readonly status: number
  readonly handler: Handler
  /** Whether the framework would admit these. */
  accepts(params: Params, body: unknown): boolean
  serialize(status: number, answer: unknown): string
  /** Counts an answer with the usual status; set by the first one. */
  answered?: ((ms: number) => void) | undefined
}

export type Params = Record<string, string>

interface Pattern {
  parts: readonly string[]
  route: DirectRoute | undefined
}

const isParameter = (part: string): boolean => part.startsWith(':')

/** All routes of operations. Those that are hot may be called directly, by the same handler. */
export class DirectRoutes {
  private readonly byShape = new Map<string, Pattern[]>()
  private compile: CompileSerializer | undefined

  /** Before the server listens. */
  serializeBy(compile: CompileSerializer): void {
    this.compile = compile
  }

  add(operation: Operation, status: number, handler: Handler): void {
    const [method, url] = operation.route.split(' ') as [string, string]
    const parts = url.split('/')
    const pattern = { parts, route: operation.isHot ? this.route(operation, status, handler) : undefined }
    const shape = method + parts.length
    this.byShape.set(shape, [...(this.byShape.get(shape) ?? []), pattern])
  }

  /** Undefined unless exactly one route has this form, and it may be called directly. */
  find(method: string, path: string): { route: DirectRoute; params: Params } | undefined {
    const parts = path.split('/')
    let found: Pattern | undefined
    for (const pattern of this.byShape.get(method + parts.length) ?? []) {
      if (!matches(pattern.parts, parts)) continue
      if (found !== undefined) return undefined
      found = pattern
    }
    const route = found?.route
    if (route === undefined) return undefined
    const params: Params = {}
    for (let i = 1; i < parts.length; i++) {
      const name = found!.parts[i]!
      if (isParameter(name)) params[name.slice(1)] = parts[i]!
    }
    return { route, params }
  }

  private route(operation: Operation, status: number, handler: Handler): DirectRoute {
    const { params, body, scope, answers, query = {} } = operation
    const [method, url] = operation.route.split(' ') as [string, string]
    const validParams = params && Compile(Type.Object(params))
    const validBody = body && Compile(body)
    const serializers = new Map<number, Serialize>()
    return {
      ...{ method, url, scope: scope as Scope, status, handler },
      hasBody: body !== undefined,
      hasLists: 'allowlists' in query,
      accepts: (given, value) => (validParams?.Check(given) ?? true) && (validBody?.Check(value) ?? true),
      serialize: (code, answer) => {
        let serialize = serializers.get(code)
        if (serialize === undefined) {
          const [, schema] = answers[code] as readonly [string, unknown]
          serializers.set(code, (serialize = this.compile!({ schema, httpStatus: String(code) })))
        }
        return serialize(answer)
      },
    }
  }
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  for (let i = 0; i < parts.length; i++) {
    if (isParameter(pattern[i]!) ? parts[i] === '' : pattern[i] !== parts[i]) return false
  }
  return true
}
