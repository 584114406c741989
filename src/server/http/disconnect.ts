import type { IncomingMessage, ServerResponse } from 'node:http'
import { CatracaError } from '../../core/errors.js'

/**
 * Calls `act` when the client disconnects before the response. A full close looks like a half close, after which the
 * client may still read. So short calls such as checks are answered anyway; only waiting or long work is stopped.
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

/** Waits, and stops long work whose client has disconnected meanwhile. */
export async function whilePresent({ socket }: IncomingMessage, turn: Promise<void>): Promise<void> {
  await turn
  if (socket.readableEnded || socket.destroyed) {
    throw new CatracaError('ABORTED', 'the client disconnected')
  }
}
