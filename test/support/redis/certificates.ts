import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificates {
  /** Files. */
  ca: string
  certificate: string
  key: string
  /** PEM text of the authority. */
  authority: string
  remove(): void
}

/** An authority, and a certificate of it for 127.0.0.1 and localhost, made now. */
export function makeCertificates(): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-tls-'))
  const at = (name: string) => join(directory, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '2',
    '-subj',
    '/CN=test-ca',
  )
  openssl('req', ...newKey, '-keyout', at('server.key'), '-out', at('server.csr'), '-subj', '/CN=localhost')
  const signed = ['x509', '-req', '-in', at('server.csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key')]
  const names = at('names.txt')
  writeFileSync(names, 'subjectAltName=DNS:localhost,IP:127.0.0.1')
  openssl(...signed, '-CAcreateserial', '-days', '2', '-out', at('server.pem'), '-extfile', names)
  return {
    ca: at('ca.pem'),
    certificate: at('server.pem'),
    key: at('server.key'),
    authority: readFileSync(at('ca.pem'), 'utf8'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
