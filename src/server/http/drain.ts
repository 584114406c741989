import type { IncomingMessage, ServerResponse } from 'node:http'
import { later } from '../../core/timers.js'

const LINGER_BYTES = 64 * 1024 * 1024
const LINGER_MS = 5_000

/** Whether more of the body may come, which nobody is going to read. */
export function isStillSending(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  return !request.complete && !request.destroyed && (length !== '0' || encoding !== undefined)
}

/**
 * Answers a caller who is still sending. The whole answer goes out now, but it is only ended when the body is,
 * since the end may close the connection, and closing it under a sender loses the answer. A sender who takes
 * no notice for too long is hung up on.
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
