import { CatracaError } from '../../core/errors.js'

/** The server under load, and what every request to it has in common. */
export interface Origin {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Without the key; for reports. */
  readonly url: string
  get(path: string): string
  send(method: string, path: string, body: string): string
}

/** The configuration accepts only URLs without credentials, query and fragment. */
export function originOf(text: string, key: string | undefined): Origin {
  const url = new URL(text)
  const isTls = url.protocol === 'https:'
  const base = url.pathname.replace(/\/+$/, '')
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    throw new CatracaError('INVALID_INPUT', 'the API key holds characters that no header may hold')
  }
  const authorization = key === undefined ? '' : `authorization: Bearer ${key}\r\n`
  const headers = ` HTTP/1.1\r\nhost: ${url.host}\r\n${authorization}`
  const bodiless = `${headers}\r\n`
  const withBody = `${headers}content-type: application/json\r\ncontent-length: `
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    isTls,
    url: url.origin + base,
    get: (path) => `GET ${base}${path}${bodiless}`,
    send: (method, path, body) =>
      `${method} ${base}${path}${withBody}${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`,
  }
}
