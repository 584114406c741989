import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server, and can swallow an answer together with its connection. */
export interface Cut {
  readonly port: number
  /** The next answer of the server never arrives: what was asked is done, and the connection is gone. */
  next(): void
  /** The same, and no connection is taken any more. */
  last(): void
  /** From now on nothing comes through in either direction, and nobody is told. */
  hush(): void
  /** Connections that were taken. */
  taken(): number
  close(): Promise<void>
}

export async function startCut(target: number): Promise<Cut> {
  const sockets = new Set<Socket>()
  let isArmed = false
  let isLast = false
  let isHushed = false
  let taken = 0
  const server = createServer((near) => {
    taken++
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    near.on('data', (data) => isHushed || far.write(data)).on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    far.on('data', (data) => {
      if (isHushed) return
      if (!isArmed) return void near.write(data)
      isArmed = false
      if (isLast) server.close()
      near.resetAndDestroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    next: () => {
      isArmed = true
    },
    last: () => {
      isArmed = isLast = true
    },
    hush: () => {
      isHushed = true
    },
    taken: () => taken,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
