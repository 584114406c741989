export interface Address {
  host: string
  port: number
}

/** URLs put an IPv6 address in brackets; sockets need it without them. */
export const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

export const nameOf = ({ host, port }: Address): string => `${host}:${port}`

/**
 * `HOST:PORT` as a server writes it: IPv6 without brackets. The host is empty if it is that of the server that
 * answers.
 */
export function parseAddress(text: string, askedHost: string): Address | undefined {
  const colon = text.lastIndexOf(':')
  const port = Number(text.slice(colon + 1).split('@')[0])
  if (colon < 0 || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined
  const host = bareHost(text.slice(0, colon))
  return { host: host === '' || host === '?' ? askedHost : host, port }
}
