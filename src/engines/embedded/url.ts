import { wrong } from '../url-parts.js'

export interface EmbeddedUrl {
  engine: 'embedded'
  /** Without it (`memory:`), the store is a temporary directory. */
  path?: string
}

export function parseEmbedded(rest: string): EmbeddedUrl {
  // embedded:///var/lib/x is an absolute path, as in file:// URLs.
  const path = rest.startsWith('///') ? rest.slice(2) : rest
  if (path === '') throw wrong('embedded: must name a directory, such as embedded:./catraca-data')
  if (path.startsWith('//')) throw wrong('embedded: takes a directory, not a host')
  if (path.includes('\0')) throw wrong('embedded: names a directory with a zero byte')
  return { engine: 'embedded', path }
}

export function parseMemory(rest: string): EmbeddedUrl {
  if (rest !== '') throw wrong('memory: must have nothing after the colon')
  return { engine: 'embedded' }
}
