import { once } from 'node:events'
import { type ClientRequest, Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { text as readText } from 'node:stream/consumers'

export interface UploadAnswer {
  status: number
  contentType: string
  text: string
}

/**
 * Sends a request whose body may take any time. `fetch` cannot do this: it fails when the response does not begin
 * within five minutes of the last byte, and it hides a response that arrives before the whole body was sent.
 */
export async function upload(
  url: URL,
  headers: Record<string, string>,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<UploadAnswer> {
  signal?.throwIfAborted()
  const request = open(url, headers)
  const onAbort = () => request.destroy(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  const answer = answerOf(request)
  send(request, body).catch((error) => request.destroy(error))
  try {
    return await answer
  } finally {
    signal?.removeEventListener('abort', onAbort)
    request.destroy()
  }
}

/**
 * Uses a new connection, which is closed afterwards, but sends `keep-alive`: with `close`, a server that refuses the
 * body would close at once, and its response would be lost.
 */
function open(url: URL, headers: Record<string, string>): ClientRequest {
  const options = { method: 'POST', headers }
  return url.protocol === 'https:'
    ? requestHttps(url, { ...options, agent: new HttpsAgent({ keepAlive: true }) })
    : requestHttp(url, { ...options, agent: new HttpAgent({ keepAlive: true }) })
}

function answerOf(request: ClientRequest): Promise<UploadAnswer> {
  return new Promise((resolve, reject) => {
    let answered = false
    request.on('error', (error) => {
      // The server may refuse and stop reading; the broken pipe is then expected.
      if (!answered) reject(error)
    })
    request.on('close', () => {
      if (!answered) reject(new Error('the connection was closed'))
    })
    request.on('response', (response) => {
      answered = true
      const contentType = response.headers['content-type'] ?? ''
      readText(response).then(
        (text) => resolve({ status: response.statusCode ?? 0, contentType, text }),
        reject,
      )
    })
  })
}

async function send(request: ClientRequest, body: AsyncIterable<Uint8Array>): Promise<void> {
  const closed = once(request, 'close').catch(() => {})
  for await (const chunk of body) {
    if (request.destroyed) return
    if (!request.write(chunk)) await Promise.race([once(request, 'drain'), closed])
  }
  if (!request.destroyed) request.end()
}
