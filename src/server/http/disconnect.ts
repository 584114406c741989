import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Acts when the caller leaves before it is answered. Whoever closes its connection looks like one that has only stopped
 * talking; a check is answered all the same, but what is waited for, or goes on for long, is not worth doing for nobody.
 */
export function onClientDisconnect(
  { socket }: IncomingMessage,
  response: ServerResponse,
  act: () => void,
): void {
  if (socket.readableEnded) {
    act()
    return
  }
  socket.once('end', act)
  response.once('close', () => {
    socket.off('end', act)
    if (!response.writableFinished) act()
  })
}
