import type { Server as HttpsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { Logger } from 'pino'
import { CatracaError } from '../../core/errors.js'
import { every } from '../../core/timers.js'

/** What a server shows of itself, and whom it believes; PEM. */
export interface TlsMaterial {
  cert: string
  key: string
  /** Authorities of clients: with them only clients that have a certificate of theirs are let in. */
  clientCa?: string | undefined
}

/** Asked again and again, because certificates are renewed while the server runs. */
export type TlsSource = () => TlsMaterial

const OPTIONS = { minVersion: 'TLSv1.2' } as const
/** A connection that says nothing must not be kept for long: no longer than this, or than its headers may take. */
export const HANDSHAKE_TIMEOUT_MS = 10_000

export interface TlsOptions {
  cert: string
  key: string
  ca?: string
  minVersion: 'TLSv1.2'
}

/** The material in Node's words, after it was seen to work. */
export function tlsOptions({ cert, key, clientCa }: TlsMaterial): TlsOptions {
  const options = { ...OPTIONS, cert, key, ...(clientCa !== undefined && { ca: clientCa }) }
  try {
    createSecureContext(options)
  } catch (error) {
    // The message may quote what it could not read, which may be the key.
    const why = (error as NodeJS.ErrnoException).code ?? 'not valid PEM'
    throw new CatracaError(
      'CONFIG_INVALID',
      `server.tlsCert, server.tlsKey and server.tlsClientCa do not make a working certificate (${why})`,
    )
  }
  return options
}

/** New connections get the renewed certificate; a pair that is half renewed is left for the next look. */
export function followTls(
  server: HttpsServer,
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
      logger.info('the certificate of the server was renewed')
    } catch (error) {
      refused = seen
      logger.warn({ err: error }, 'the renewed certificate is not used')
    }
  }, everyMs).unref()
  return () => clearInterval(timer)
}
