import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { CatracaError } from '../../core/errors.js'
import type { Completion, StoredRecord, StoredResponse } from './port.js'
import type { Replay } from './types.js'

const compress = promisify(gzip)
const expand = promisify(gunzip)

const COMPRESSED_ABOVE_BYTES = 10 * 1024
/** Of the text, before it is compressed: nothing that is stored expands to more. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024

/** What is stored of a value; of one that is too large, only that. */
export function toCompletion(value: unknown, maxBytes: number): Completion | Promise<Completion> {
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
 * The same of an answer to work that is done: of one that is no JSON, that it was done, and the failure to tell of. It must
 * not be done again because its answer cannot be written down.
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

/** Undefined only for undefined itself. */
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

/** It was done, so it is not done again, whatever became of the answer. */
function corrupt(cause: unknown): CatracaError {
  return new CatracaError('STORE_CORRUPT', 'a stored response cannot be read', { cause })
}
