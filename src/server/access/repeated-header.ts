import type { IncomingMessage } from 'node:http'

/**
 * Whether the request has this header more than once. Of headers that name one thing, Node takes the first and drops the
 * others. A proxy in front may have looked at another one.
 */
export function isRepeated({ rawHeaders }: IncomingMessage, header: 'authorization' | 'host'): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === header.length && name.toLowerCase() === header) count++
  }
  return count > 1
}
