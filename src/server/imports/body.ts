import type { IncomingMessage } from 'node:http'
import { CatracaError } from '../../core/errors.js'
import type { ImportFormat } from '../../guards/allowlist/types.js'
import type { IMPORTS } from '../../wire/allowlist/members.js'

type ImportType = (typeof IMPORTS.importMembers.consumes)[number]

/** `application/gzip` does not say which format is inside. */
const IMPORT_TYPES: Record<ImportType, ImportFormat | undefined> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/plain': 'text',
  'application/gzip': undefined,
}

interface BodyKind {
  format: ImportFormat
  gzip?: true
}

/** Reads from the headers how to decode the body; refuses bodies that cannot be read. */
export function bodyKind(request: IncomingMessage, format: ImportFormat | undefined): BodyKind {
  const { 'content-type': contentType = '', 'content-encoding': encoding = 'identity' } = request.headers
  const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (!Object.hasOwn(IMPORT_TYPES, mediaType)) throw unsupportedType(mediaType)
  const gzipped = isGzip(encoding) || mediaType === 'application/gzip'
  return {
    format: format ?? IMPORT_TYPES[mediaType as ImportType] ?? 'csv',
    ...(gzipped ? { gzip: true } : {}),
  }
}

function isGzip(encoding: string): boolean {
  const name = encoding.trim().toLowerCase()
  if (name === 'gzip' || name === 'x-gzip') return true
  if (name === 'identity') return false
  throw new CatracaError('UNSUPPORTED_MEDIA_TYPE', 'the content encoding must be gzip or identity')
}

function unsupportedType(mediaType: string): CatracaError {
  const given = mediaType === '' ? 'none was given' : `${mediaType} was given`
  const known = Object.keys(IMPORT_TYPES).join(', ')
  return new CatracaError('UNSUPPORTED_MEDIA_TYPE', `an import needs a content type of ${known}; ${given}`)
}

/**
 * The body as chunks. A consumer that stops early must not destroy the request, as iterating the request directly
 * would: `drain.ts` then reads the rest of the body.
 */
export function bodyChunks(request: IncomingMessage): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) }
}
