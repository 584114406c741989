import type { Socket } from 'node:net'
import { sameText } from '../access/gate.js'
import type { KnownKey } from '../access/registry.js'
import type { ServerContext } from '../http/context.js'
import { readJson } from '../http/json-body.js'
import type { DirectRequest } from './call.js'
import { type DirectHeaders, parseHeaders, splitHead } from './head.js'
import { parseTarget } from './query.js'
import type { DirectRoute, Params } from './routes.js'

/** Larger bodies are left to the framework, in which callers take turns. */
const MAX_BODY_BYTES = 4 * 1024
const JSON_TYPES = ['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-8']
const NOT_DIRECT = new Error('not a direct call')

export interface ReadCall {
  route: DirectRoute
  params: Params
  lists: string[] | undefined
  body: unknown
}

/** Reads the calls of one connection. */
export class CallReader {
  caller: KnownKey | undefined
  /** What handlers learn of the connection. */
  raw: DirectRequest['raw'] | undefined
  /** The last headers that were accepted, their registry epoch, and their meaning. */
  private headersText = ''
  private epoch = -1
  private headers: DirectHeaders | undefined

  constructor(
    private readonly context: ServerContext,
    private readonly socket: Socket,
  ) {}

  /** Of the last call that was read. */
  get requestId(): string | undefined {
    return this.headers?.requestId
  }

  /** Undefined for anything but one whole call that the framework would admit. */
  read(chunk: Buffer): ReadCall | undefined {
    const { settings, direct } = this.context
    if (chunk.length > settings.headerLimitBytes + MAX_BODY_BYTES) return undefined
    const head = splitHead(chunk.toString('latin1'))
    const target = head && parseTarget(head.target)
    const found = target && direct.find(head.method, target.path)
    if (head === undefined || found === undefined || head.bodyAt > settings.headerLimitBytes) return undefined
    const { route, params } = found
    const { lists } = target!
    if (route.hasLists !== (lists !== undefined) || !this.admits(head.headers, route)) return undefined
    const body = this.bodyOf(chunk, head.bodyAt, route)
    if (body instanceof Error || !route.accepts(params, body)) return undefined
    return { route, params, lists, body }
  }

  /** Requests of one connection mostly repeat their headers, so equal headers are parsed once. */
  private admits(text: string, { scope, hasLists }: DirectRoute): boolean {
    const { gate, registry, catraca } = this.context
    if (!gate.isLocked()) return false
    if (this.epoch !== registry.epoch || !sameText(this.headersText, text)) {
      const headers = parseHeaders(text)
      const caller = headers && gate.identify(this.socket, headers.authorization)
      if (headers === undefined || caller === undefined) return false
      Object.assign(this, { headersText: text, epoch: registry.epoch, headers, caller })
      this.raw = { socket: this.socket, headers }
    }
    // With tracing every request has a span, except checks that belong to no trace.
    if (catraca.tracing.spans !== undefined && (this.headers!.isTraced || !hasLists)) return false
    if (!this.caller!.scopes.has(scope)) return false
    this.caller!.isUsed = true
    return true
  }

  /** The body of a call, or an error if the framework would refuse it, or if this is not all of it. */
  private bodyOf(chunk: Buffer, at: number, { method, hasBody }: DirectRoute): unknown {
    const { contentLength, contentType } = this.headers!
    const bytes = chunk.length - at
    if (!hasBody) {
      const isPlain = contentLength === undefined && (contentType === undefined || method === 'GET')
      return isPlain && bytes === 0 ? undefined : NOT_DIRECT
    }
    const { bodyLimitBytes, bodyLimitValues } = this.context.settings
    if (bytes === 0 || bytes !== contentLength || bytes > Math.min(MAX_BODY_BYTES, bodyLimitBytes))
      return NOT_DIRECT
    if (contentType === undefined || !JSON_TYPES.includes(contentType)) return NOT_DIRECT
    return readJson(chunk.toString('utf8', at), bodyLimitValues)
  }
}
