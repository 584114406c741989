import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ArgumentsHost } from '@nestjs/common'
import type { ParsedRequest } from '../adapters/parsed-request.js'

/** What the requests of Express and of Fastify have in common. */
export type AnyRequest = ParsedRequest & { id?: unknown; ip?: string | undefined }

/** What the responses of Express and of Fastify have in common. */
export interface AnyResponse {
  status(code: number): AnyResponse
  header(name: string, value: string): unknown
  send(body: string): unknown
}

export interface Exchange {
  request: AnyRequest
  response: AnyResponse
  /** The response of Node behind that of the framework. */
  raw: ServerResponse
  requestId: string
}

/** The request and the response of a call. Guards of requests cannot judge anything else. */
export function exchangeOf(host: ArgumentsHost): Exchange {
  const kind = host.getType()
  if (kind !== 'http')
    throw new Error(`catraca/nestjs: this guard judges HTTP requests, and was asked about ${kind}`)
  const http = host.switchToHttp()
  const request = http.getRequest<AnyRequest>()
  const response = http.getResponse<AnyResponse & { raw?: ServerResponse }>()
  return { request, response, raw: response.raw ?? (response as never), requestId: requestIdOf(request) }
}

/** Fastify numbers its requests. */
function requestIdOf({ id, headers }: AnyRequest & Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  if (typeof given === 'string') return given
  return typeof id === 'string' ? id : randomUUID()
}
