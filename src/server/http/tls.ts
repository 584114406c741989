import { createSecureContext, type Server as TlsServer } from 'node:tls'
import type { Logger } from 'pino'
import { CatracaError } from '../../core/errors.js'
import { every } from '../../core/timers.js'

/** Certificate and key of the server, and the authorities of clients that it trusts; PEM. */
export interface TlsMaterial {
  cert: string
  key: string
  /** Authorities of clients. When set, a client must present a certificate that one of them signed. */
  clientCa?: string | undefined
}

/** Called again at every refresh, because certificates are renewed while the server runs. */
export type TlsSource = () => TlsMaterial

const OPTIONS = { minVersion: 'TLSv1.2' } as const
/** Clients that connect and send nothing must not hold a connection for long. */
export const HANDSHAKE_TIMEOUT_MS = 10_000

export interface TlsOptions {
  cert: string
  key: string
  ca?: string
  minVersion: 'TLSv1.2'
}

/** Converts the material to Node's options, after a test that it works. */
export function tlsOptions({ cert, key, clientCa }: TlsMaterial): TlsOptions {
  const options = { ...OPTIONS, cert, key, ...(clientCa !== undefined && { ca: clientCa }) }
  try {
    createSecureContext(options)
  } catch (error) {
    // OpenSSL's message may quote the input that it could not read, which may be the private key.
    const why = (error as NodeJS.ErrnoException).code ?? 'not valid PEM'
    throw new CatracaError(
      'CONFIG_INVALID',
      `server.tlsCert, server.tlsKey and server.tlsClientCa do not make a working certificate (${why})`,
    )
  }
  return options
}

/**
 * Uses a renewed certificate for new connections. A pair of which only one file is renewed is retried at the next
 * refresh.
 */
export function followTls(
  server: TlsServer,
  source: TlsSource,
  everyMs: number,
  logger: Pick<Logger, 'info' | 'warn'>,
): () => void {
  let used = JSON.stringify(source())
  let refused = ''
  const timer = every(() => {
    const material = source()
    const seen = JSON.stringify(material)
    if (seen === used || seen === refused) return
    try {
      server.setSecureContext(tlsOptions(material))
      used = seen
      refused = ''
      logger.info('the TLS certificate was reloaded')
    } catch (error) {
      refused = seen
      logger.warn({ err: error }, 'the new TLS certificate is not valid; the old one stays in use')
    }
  }, everyMs).unref()
  return () => clearInterval(timer)
}
