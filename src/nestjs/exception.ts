import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common'
import type { ErrorCode } from '../core/errors.js'
import { type RenderedProblem, renderProblem } from '../server/http/problem.js'
import { exchangeOf } from './exchange.js'

/** A refusal of a guard. `getResponse()` is the problem document that the client gets. */
export class CatracaException extends HttpException {
  /** Of the table of errors, such as `QUOTA_EXCEEDED`. Undefined: the service answers with a denial of its own. */
  readonly code: ErrorCode | undefined
  /** Headers of the response, in lower case. */
  readonly headers: Record<string, string>
  /** The body as it is sent. */
  readonly body: string

  constructor({ status, headers, body }: RenderedProblem, cause?: unknown) {
    super(contentOf(body, headers['content-type']), status, cause === undefined ? {} : { cause })
    const { code, detail } = this.getResponse() as { code?: ErrorCode; detail?: string }
    this.code = code
    this.headers = headers
    this.body = body
    if (detail !== undefined) this.message = detail
  }

  /** For an error of a guard. */
  static of(error: unknown, requestId: string): CatracaException {
    return new CatracaException(renderProblem(error, requestId), error)
  }
}

function contentOf(body: string, type: string | undefined): string | Record<string, unknown> {
  return type?.includes('json') ? (JSON.parse(body) as Record<string, unknown>) : body
}

/** Sends refusals with their headers. Filters of the application, on a route or for all, come first. */
@Catch(CatracaException)
export class CatracaExceptionFilter implements ExceptionFilter<CatracaException> {
  catch(exception: CatracaException, host: ArgumentsHost): void {
    // Microservices, gateways and GraphQL have their own way to tell an error.
    if (host.getType() !== 'http') throw exception
    const { raw, response } = exchangeOf(host)
    if (raw.headersSent) {
      raw.end()
      return
    }
    for (const [name, value] of Object.entries(exception.headers)) response.header(name, value)
    response.status(exception.getStatus()).send(exception.body)
  }
}
