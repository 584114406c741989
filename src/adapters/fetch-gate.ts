import type { AtEnd, Gate } from './gate.js'

/** The refusal of a gate, or the response of the handler behind it with the headers of the gate. */
export async function answerBehind(
  gate: Gate,
  handle: () => Response | Promise<Response>,
): Promise<Response> {
  if (!gate.pass) return new Response(gate.body, { status: gate.status, headers: gate.headers })
  const { headers = {}, atEnd } = gate
  if (atEnd === undefined) return withHeaders(await handle(), headers)
  try {
    return untilEnd(withHeaders(await handle(), headers), atEnd)
  } catch (error) {
    atEnd(undefined)
    throw error
  }
}

function withHeaders(response: Response, headers: Record<string, string>): Response {
  try {
    for (const name in headers) response.headers.set(name, headers[name]!)
    return response
  } catch {
    // The headers of a response from `fetch` are immutable.
    const all = new Headers(response.headers)
    for (const name in headers) all.set(name, headers[name]!)
    return copyOf(response, response.body, all)
  }
}

function copyOf(response: Response, body: Response['body'], headers: Headers): Response {
  const { status, statusText } = response
  return new Response(body, { status, statusText, headers })
}

/** Tells when the response body was read to its end or cancelled. */
function untilEnd(response: Response, atEnd: AtEnd): Response {
  const { body, status } = response
  if (body === null) {
    atEnd(status)
    return response
  }
  const reader = body.getReader()
  const watched = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (error) {
        controller.error(error)
      }
      atEnd(status)
    },
    cancel(reason) {
      atEnd(undefined)
      return reader.cancel(reason)
    },
  })
  return copyOf(response, watched, response.headers)
}
