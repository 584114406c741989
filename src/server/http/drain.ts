import type { IncomingMessage, ServerResponse } from 'node:http'
import { later } from '../../core/timers.js'

const LINGER_BYTES = 64 * 1024 * 1024
const LINGER_MS = 5_000

/** Whether more of the body may arrive, which no handler will read. */
export function isStillSending(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  return !request.complete && !request.destroyed && (length !== '0' || encoding !== undefined)
}

/**
 * Responds to a client that is still sending its body. The whole response is written now, but ended only after the
 * body: ending it may close the connection, and a close during an upload loses the response. A client that keeps
 * sending for too long is disconnected.
 */
export function answerSender(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: { status: number; headers: Record<string, string>; body: string },
): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.write(body)
  let leftBytes = LINGER_BYTES
  const hangUp = () => request.socket.destroy()
  const timer = later(hangUp, LINGER_MS).unref()
  request.on('data', (chunk: Buffer) => {
    leftBytes -= chunk.length
    if (leftBytes < 0) hangUp()
  })
  request.once('end', () => response.end())
  request.once('close', () => clearTimeout(timer))
  request.resume()
}
