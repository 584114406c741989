import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { CheckFields } from '../direct/facts.js'
import { isServerFault } from './problem.js'
import { isCallersId } from './request-id.js'

export interface AccessEntry {
  requestId: string
  method: string
  /** The route pattern: a raw URL would write customer ids to the log. */
  route: string
  status: number
  latencyMs: number
  customerId?: string | undefined
  /** Name of the API key; never the key. */
  key?: string | undefined
  /** Subject of the person who signed in. */
  person?: string | undefined
  check?: CheckFields | undefined
  error?: unknown
}

export interface AccessLogOptions {
  sampling: number
  logCustomerIds: boolean
  hashKey: string | undefined
}

/** Logs a sample of the requests, and every server error. */
export class AccessLog {
  private readonly hashKey: KeyObject

  constructor(
    private readonly logger: FastifyBaseLogger,
    private readonly options: AccessLogOptions,
  ) {
    const { hashKey } = options
    this.hashKey = createSecretKey(hashKey === undefined ? randomBytes(32) : Buffer.from(hashKey))
  }

  samples(): boolean {
    return Math.random() < this.options.sampling
  }

  write({ customerId, check, error, ...entry }: AccessEntry): void {
    const fault = isServerFault(entry.status)
    const line = {
      ...entry,
      ...(isCallersId(entry.requestId) && { requestIdFrom: 'caller' }),
      latencyMs: Math.round(entry.latencyMs * 1000) / 1000,
      ...(customerId === undefined ? {} : { customerId: this.customer(customerId) }),
      ...check,
      ...(fault && error !== undefined ? { err: error } : {}),
    }
    if (fault) this.logger.error(line, 'request')
    else this.logger.info(line, 'request')
  }

  /** A plain hash of a short number such as a tax id can be reversed by trying all numbers; a keyed hash cannot. */
  private customer(id: string): string {
    if (this.options.logCustomerIds) return id
    return createHmac('sha256', this.hashKey).update(id).digest('hex').slice(0, 16)
  }
}
