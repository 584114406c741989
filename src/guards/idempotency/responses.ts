import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { CatracaError } from '../../core/errors.js'
import type { Completion, StoredRecord, StoredResponse } from './port.js'
import type { Replay } from './types.js'

const compress = promisify(gzip)
const expand = promisify(gunzip)

const COMPRESSED_ABOVE_BYTES = 10 * 1024
/** Maximum size of the text before compression. No stored response expands to more. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024

/** The stored form of a response. For one that is too large, only its size. */
function toCompletion(value: unknown, maxBytes: number): Completion | Promise<Completion> {
  const text = toJson(value)
  if (text === undefined) return {}
  const sizeBytes = Buffer.byteLength(text)
  const omitted = { omittedBytes: sizeBytes }
  if (sizeBytes > MAX_TEXT_BYTES) return omitted
  if (sizeBytes <= COMPRESSED_ABOVE_BYTES) {
    return sizeBytes > maxBytes ? omitted : { response: { encoding: 'json', text } }
  }
  return compress(text).then((bytes) =>
    bytes.length > maxBytes ? omitted : { response: { encoding: 'gzip', bytes } },
  )
}

export interface WrittenAnswer {
  completion: Completion
  failure?: CatracaError
}

/**
 * The same for work that has been executed. If the response is not JSON, the record is completed without it and
 * the failure is returned. The work must not run again because its response cannot be written.
 */
export function writtenAnswer(value: unknown, maxBytes: number): WrittenAnswer | Promise<WrittenAnswer> {
  try {
    const made = toCompletion(value, maxBytes)
    if (made instanceof Promise) return made.then((completion) => ({ completion }))
    return { completion: made }
  } catch (cause) {
    const failure = new CatracaError(
      'IDEMPOTENCY_ANSWER_NOT_WRITABLE',
      `the work was executed and recorded as completed, but its result cannot be written as JSON: ${(cause as Error).message}`,
      { cause },
    )
    return { completion: { omittedBytes: 0 }, failure }
  }
}

/** Undefined only if the value is undefined. */
function toJson(value: unknown): string | undefined {
  const text = JSON.stringify(value)
  if (text === undefined && value !== undefined) throw new TypeError(`a ${typeof value} has no JSON form`)
  return text
}

export function toReplay({
  response,
  omittedBytes,
}: StoredRecord): Replay<unknown> | Promise<Replay<unknown>> {
  if (omittedBytes !== undefined) return { outcome: 'omitted', sizeBytes: omittedBytes }
  if (response === undefined) return { outcome: 'replayed', value: undefined }
  const text = responseText(response)
  return typeof text === 'string' ? replayOf(text) : text.then(replayOf)
}

function replayOf(text: string): Replay<unknown> {
  try {
    return { outcome: 'replayed', value: JSON.parse(text) }
  } catch (cause) {
    throw corrupt(cause)
  }
}

export function responseText(response: StoredResponse): string | Promise<string> {
  return response.encoding === 'json' ? response.text : expandedText(response)
}

async function expandedText(response: StoredResponse & { encoding: 'gzip' }): Promise<string> {
  try {
    return (await expand(response.bytes, { maxOutputLength: MAX_TEXT_BYTES })).toString('utf8')
  } catch (cause) {
    throw corrupt(cause)
  }
}

/** The request was executed. It must not run again, even if the response is damaged. */
function corrupt(cause: unknown): CatracaError {
  return new CatracaError('STORE_CORRUPT', 'a stored response cannot be read', { cause })
}
