import type { CatracaError } from '../../core/errors.js'
import { HTTP_STATUS, toCatracaError } from '../http/problem.js'

/** Codes of gRPC, as their documentation numbers them. */
export const GRPC = {
  OK: 0,
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const

/** By the status that the same error has over HTTP. */
const BY_HTTP: Readonly<Record<number, number>> = {
  400: GRPC.INVALID_ARGUMENT,
  401: GRPC.UNAUTHENTICATED,
  403: GRPC.PERMISSION_DENIED,
  404: GRPC.NOT_FOUND,
  409: GRPC.ABORTED,
  413: GRPC.RESOURCE_EXHAUSTED,
  429: GRPC.RESOURCE_EXHAUSTED,
  499: GRPC.CANCELLED,
  501: GRPC.UNIMPLEMENTED,
  503: GRPC.UNAVAILABLE,
  504: GRPC.DEADLINE_EXCEEDED,
  507: GRPC.RESOURCE_EXHAUSTED,
}

export interface GrpcFailure {
  cause: CatracaError
  code: number
  /** For metrics and the log, which know statuses of HTTP. */
  httpStatus: number
}

export function grpcFailure(error: unknown): GrpcFailure {
  const { cause } = toCatracaError(error)
  const httpStatus = HTTP_STATUS[cause.code]
  return { cause, code: BY_HTTP[httpStatus] ?? GRPC.INTERNAL, httpStatus }
}
