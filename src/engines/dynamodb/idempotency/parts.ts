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

/** A response in separate items. */
export interface Parts {
  /** Unique per completion, so that parts of a late owner, or of a retry, never mix. */
  id: string
  count: number
  encoding: StoredResponse['encoding']
}

/** Below the item limit, with room for names and key. */
const PART_BYTES = 350 * 1024
/** A record may be extended after its parts were written, so they live longer. */
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

export const bytesIn = (response: StoredResponse): Uint8Array =>
  response.encoding === 'json' ? Buffer.from(response.text) : response.bytes

/** Responses that do not fit into their record. */
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

  /**
   * Parts are written before the record names them. An eventually consistent read mostly finds them, for half the
   * price.
   */
  async read(key: RecordKey, parts: Parts): Promise<StoredResponse> {
    const found = (await this.find(key, parts, false)) ?? (await this.find(key, parts, true))
    // The request must not be executed again because its response is damaged.
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

/** With more `#` than the key of a record. */
function partKeys(key: RecordKey, { id, count }: Parts): Item[] {
  const partition = partitionOf(key)
  return Array.from({ length: count }, (_, i) => ({ pk: text(`${partition}#PART#${id}#${i}`) }))
}
