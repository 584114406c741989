import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** How long a request may still take whose client has left. */
const LINGER_MS = 10_000

/**
 * Passes connections on to a server that must not see its clients leave in the middle of a request. extenddb then leaves a
 * transaction open on its only connection to SQLite, and fails from then on.
 */
export async function shieldingProxy(port: number): Promise<{ port: number; stop(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      // A close follows.
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    }
    client.setNoDelay(true)
    client.pipe(upstream, { end: false })
    upstream.pipe(client)
    upstream.once('close', () => client.destroy())
    client.once('close', () => {
      upstream.resume()
      upstream.setTimeout(LINGER_MS, () => upstream.destroy())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
