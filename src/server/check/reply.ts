import { renderProblem } from '../http/problem.js'

/** As Fastify writes it. */
export const JSON_TYPE = 'application/json; charset=utf-8'

export interface FailureReply {
  status: number
  /** Names and values alternate. */
  headers: string[]
  body: string
}

/** The response to a check that failed. */
export function failureReply(error: unknown, requestId: string): FailureReply {
  const { status, headers, body } = renderProblem(error, requestId)
  const { 'content-type': type, 'cache-control': _, ...others } = headers
  return {
    status,
    headers: [
      ...baseHeaders(requestId, type!),
      ...Object.entries(others).flat(),
      'content-length',
      String(Buffer.byteLength(body)),
    ],
    body,
  }
}

const baseHeaders = (requestId: string, type: string): string[] => [
  'x-request-id',
  requestId,
  'cache-control',
  'no-store',
  'x-content-type-options',
  'nosniff',
  'content-type',
  type,
]
