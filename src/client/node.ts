import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'

/** Responses with these statuses have no body, not even an empty one. */
const BODILESS = [204, 205, 304]

/**
 * `fetch` for Node that waits as long as its caller. The `fetch` of Node fails when a response does not begin within
 * five minutes of the last byte of the body, and it can miss a response that arrives before the whole body was sent.
 * It never follows redirects: it returns them.
 */
export function patientFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const { method = 'GET', headers, body, signal } = init
  const isTls = String(url).startsWith('https:')
  const isStream = body != null && typeof body !== 'string' && !(body instanceof Uint8Array)
  return new Promise((resolve, reject) => {
    // A stream cannot be sent again, so it gets a new connection, which the server cannot have closed meanwhile. The
    // agent says `keep-alive`: after `close` a server that refuses the body would close at once, and its response
    // would be lost.
    const agent = isStream ? new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true }) : undefined
    const request = (isTls ? requestHttps : requestHttp)(url, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      agent,
      ...(signal && { signal }),
    })
    request.on('error', reject)
    request.on('response', (message) => {
      // Also ends a body that is still being sent when the response is complete.
      message.once('close', () => agent?.destroy())
      resolve(responseOf(message))
    })
    if (!isStream) return void request.end(body)
    const source = Readable.fromWeb(new Response(body).body as never)
    source.on('error', (error) => request.destroy(error)).pipe(request)
    request.once('close', () => source.destroy())
  })
}

function responseOf(message: IncomingMessage): Response {
  const status = message.statusCode ?? 0
  const headers = Object.entries(message.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  )
  const isBodiless = BODILESS.includes(status)
  if (isBodiless) message.resume()
  return new Response(isBodiless ? null : (Readable.toWeb(message) as never), { status, headers })
}
