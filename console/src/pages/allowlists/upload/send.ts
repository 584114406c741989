import { CatracaApiError, errorOf } from '../../../../../src/client/api-error.js'
import { OPERATIONS } from '../../../../../src/client/generated.js'
import { requestOf } from '../../../../../src/client/request.js'
import type { ImportMembersInput } from '../../../api/client.js'
import { currentKey, signOut } from '../../../session/store.js'
import type { UploadInput } from './uploads.js'

export interface Sending {
  /** Resolves when the server has started the import. */
  done: Promise<void>
  cancel(): void
}

const MAX_ERRORS = 1_000
const TYPES: Record<string, ImportMembersInput['contentType']> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  txt: 'text/plain',
}
const FORMATS = { csv: 'csv', ndjson: 'ndjson', jsonl: 'ndjson', txt: 'text' } as const

/** By the file name: browsers know few of these media types, and differ. */
export function kindOf(name: string): Pick<ImportMembersInput, 'contentType' | 'format'> {
  const [, ending = '', isGzip] = /\.([a-z]+)(\.gz)?$/i.exec(name) ?? []
  const kind = ending.toLowerCase()
  const format = Object.hasOwn(FORMATS, kind) ? FORMATS[kind as keyof typeof FORMATS] : 'csv'
  if (isGzip !== undefined || kind === 'gz') return { contentType: 'application/gzip', format }
  return { contentType: TYPES[kind] ?? 'text/csv', format }
}

/** Uses XMLHttpRequest, because `fetch` does not report the progress of an upload. */
export function send(
  { file, ...named }: UploadInput & { id: string; importId: string },
  onProgress: (sentBytes: number) => void,
): Sending {
  const xhr = new XMLHttpRequest()
  const key = currentKey()
  const input = { ...named, async: '1', maxErrors: MAX_ERRORS, ...kindOf(file.name), body: file }
  const { url, init } = requestOf(OPERATIONS.importMembers, input, '', key)
  const done = new Promise<void>((resolve, reject) => {
    xhr.open(init.method!, url)
    for (const [name, value] of Object.entries(init.headers as Record<string, string>))
      xhr.setRequestHeader(name, value)
    xhr.upload.onprogress = ({ loaded }) => onProgress(loaded)
    xhr.onload = () => {
      if (xhr.status === 401 && key === currentKey()) signOut('refused')
      answered(xhr).then(resolve, reject)
    }
    xhr.onerror = () => reject(unsent('UNREACHABLE'))
    xhr.onabort = () => reject(unsent('ABORTED'))
    xhr.send(file)
  })
  return { done, cancel: () => xhr.abort() }
}

async function answered(xhr: XMLHttpRequest): Promise<void> {
  if (xhr.status === 202) return
  const requestId = xhr.getResponseHeader('x-request-id')
  const headers = requestId === null ? {} : { 'x-request-id': requestId }
  throw await errorOf(new Response(xhr.responseText, { status: xhr.status, headers }))
}

function unsent(code: 'UNREACHABLE' | 'ABORTED'): CatracaApiError {
  return new CatracaApiError('the upload did not arrive', { code, status: 0 })
}
