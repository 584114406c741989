import { randomUUID } from 'node:crypto'
import { CatracaError } from '../../../core/errors.js'
import type { StoredResponse } from '../../../guards/idempotency/port.js'
import type { RecordKey } from '../../../guards/idempotency/types.js'
import {
  bytes,
  bytesOf,
  type Item,
  number,
  numberOf,
  optionalText,
  text,
  textOf,
} from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { partitionOf, ttlOf } from './keys.js'

/** A response in items of its own. */
export interface Parts {
  /** Of one completion: those of a late owner, or of the same one who tries again, never mix with it. */
  id: string
  count: number
  encoding: StoredResponse['encoding']
}

/** With room for the names and the key, below what an item may take. */
const PART_BYTES = 350 * 1024
/** A record may be extended after its parts were written, so they outlive it. */
const LONGER_MS = 24 * 3_600_000
const DAMAGED = 'the response of a completed request is not complete in DynamoDB'

export function partsOf(item: Item): Parts | undefined {
  const id = optionalText(item, 'responseParts')
  if (id === undefined) return undefined
  const encoding = textOf(item, 'responseEncoding') as Parts['encoding']
  return { id, count: numberOf(item, 'responsePartCount'), encoding }
}

export function partAttributes({ id, count, encoding }: Parts): Item {
  return {
    responseParts: text(id),
    responsePartCount: number(count),
    responseEncoding: text(encoding),
  }
}

/** What of a response is stored, as bytes. */
export const bytesIn = (response: StoredResponse): Uint8Array =>
  response.encoding === 'json' ? Buffer.from(response.text) : response.bytes

/** Responses that do not go into their record. */
export class ResponseParts {
  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
    private readonly writeTimeoutMs: number,
  ) {}

  async write(key: RecordKey, response: StoredResponse, expiresAt: number): Promise<Parts> {
    const content = bytesIn(response)
    const count = Math.ceil(content.byteLength / PART_BYTES)
    const parts: Parts = { id: randomUUID(), count, encoding: response.encoding }
    const ttl = number(ttlOf(expiresAt + LONGER_MS))
    const puts = partKeys(key, parts).map((partKey, i) => {
      const part = content.subarray(i * PART_BYTES, (i + 1) * PART_BYTES)
      return { table: this.table, put: { ...partKey, part: bytes(part), ttl } }
    })
    await this.client.batchWrite('idempotency.complete', puts, { timeoutMs: this.writeTimeoutMs })
    return parts
  }

  /** Written before the record said so; a read that may be a little old mostly finds them, for half the price. */
  async read(key: RecordKey, parts: Parts): Promise<StoredResponse> {
    const found = (await this.find(key, parts, false)) ?? (await this.find(key, parts, true))
    // What was done must not be done again because its answer is damaged.
    if (found === undefined) throw new CatracaError('STORE_CORRUPT', DAMAGED)
    return parts.encoding === 'json'
      ? { encoding: 'json', text: found.toString() }
      : { encoding: 'gzip', bytes: found }
  }

  async remove(key: RecordKey, parts: Parts): Promise<void> {
    const deletes = partKeys(key, parts).map((partKey) => ({ table: this.table, delete: partKey }))
    await this.client.batchWrite('idempotency.remove', deletes, { timeoutMs: this.writeTimeoutMs })
  }

  private async find(key: RecordKey, parts: Parts, consistent: boolean): Promise<Buffer | undefined> {
    const keys = partKeys(key, parts)
    const items = await this.client.batchGetItem('idempotency.replay', {
      table: this.table,
      keys,
      consistent,
    })
    if (items.length !== parts.count) return undefined
    const byKey = new Map(items.map((item) => [textOf(item, 'pk'), bytesOf(item, 'part')]))
    return Buffer.concat(keys.map(({ pk }) => byKey.get(pk!.S!)!))
  }
}

/** With more `#` than the key of a record has. */
function partKeys(key: RecordKey, { id, count }: Parts): Item[] {
  const partition = partitionOf(key)
  return Array.from({ length: count }, (_, i) => ({ pk: text(`${partition}#PART#${id}#${i}`) }))
}
