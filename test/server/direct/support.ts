import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { type TestServer, until } from '../support.js'

export const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`

export type KeyedServer = TestServer & { accepted: Map<number, Socket> }

/** Remembers the sockets of connections by the port of the caller. */
export function withAccepted(server: TestServer): KeyedServer {
  const accepted = new Map<number, Socket>()
  server.app.server.on('connection', (socket: Socket) => accepted.set(socket.remotePort!, socket))
  return Object.assign(server, { accepted })
}

export function dial(t: TestContext, server: TestServer): Socket {
  const { hostname, port } = new URL(server.url)
  const socket = connect({ port: Number(port), host: hostname, noDelay: true })
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  return socket
}

/** How many requests Node's HTTP server got to see. */
export function countRequests(server: TestServer): () => number {
  let seen = 0
  server.app.server.prependListener('request', () => seen++)
  server.app.server.prependListener('checkContinue', () => seen++)
  server.app.server.prependListener('clientError', () => seen++)
  return () => seen
}

/** Sends the pieces so that each is read on its own, and returns all that comes back. */
export async function talk(t: TestContext, server: KeyedServer, pieces: string[]): Promise<string> {
  const socket = dial(t, server)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let received = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (received += piece))
  await once(socket, 'connect')
  const port = socket.localPort!
  await until('accepted', () => server.accepted.has(port))
  const other = server.accepted.get(port)!
  let sent = 0
  for (const piece of pieces) {
    // It has heard enough; to go on would take its answer away.
    if (other.destroyed || other.writableEnded) break
    socket.write(piece, 'latin1')
    sent += piece.length
    await until('read', () => other.bytesRead >= sent || other.destroyed)
  }
  socket.end()
  await closed
  return received
}

export const normal = (text: string) =>
  text
    .replace(/Date: [^\r]+/g, 'Date')
    // New ids grow longer by and by.
    .replace(/content-length: \d+/g, 'content-length')
    .replace(/"checkedAt":"[^"]+"/g, '"checkedAt"')
    .replace(/x-request-id: [0-9a-f]{12}-\w+/g, 'x-request-id: new')
    .replace(/"requestId":"[0-9a-f]{12}-\w+"/g, '"requestId":"new"')
