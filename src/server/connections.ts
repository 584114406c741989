import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { SocketDoor } from './check/socket-door.js'

/** The open connections of a server. */
export class Connections {
  private readonly open = new Set<Socket>()

  constructor(
    private readonly server: Server,
    private readonly door: SocketDoor,
  ) {
    const track = (socket: Socket) => {
      this.open.add(socket)
      socket.once('close', () => this.open.delete(socket))
    }
    server.on('connection', track)
    // Only this one tells, on a connection that is encrypted, whether a request has come.
    server.on('secureConnection', track)
  }

  get count(): number {
    return this.open.size
  }

  closeIdle(): void {
    this.door.closeIdle()
    this.server.closeIdleConnections()
    // Node counts a connection as idle only after its first request; one that never said anything is too.
    for (const socket of this.open) if (socket.bytesRead === 0) socket.destroy()
  }

  closeAll(): void {
    for (const socket of this.open) socket.destroy()
  }
}
