import type { _Record as SdkRecord } from '@aws-sdk/client-dynamodb-streams'
import type { Item } from '../client/attributes.js'

/** The tables whose streams are followed. */
export type StreamTable = 'allowlists' | 'giant'

/** One change of one item, as a stream tells it. */
export interface StreamRecord {
  table: StreamTable
  /** Within its stream shard. */
  sequence: string
  action: 'INSERT' | 'MODIFY' | 'REMOVE'
  keys: Item
  before?: Item
  after?: Item
  /** Deleted by DynamoDB itself, because its time was up. */
  isExpiry: boolean
}

/** A record as the Streams API has it, and, with binary in base64, as Lambda hands it over. */
export type RawRecord = Pick<SdkRecord, 'eventName' | 'userIdentity' | 'dynamodb'> | LambdaRecord

export interface LambdaRecord {
  eventName?: string | undefined
  eventSourceARN?: string | undefined
  /** Lambda spells it in lower case, the Streams API with a capital. */
  userIdentity?: { principalId?: string; type?: string } | null | undefined
  dynamodb?: { SequenceNumber?: string; Keys?: object; NewImage?: object; OldImage?: object } | undefined
}

const TTL_PRINCIPAL = 'dynamodb.amazonaws.com'

/** Undefined for what is no change of an item with our keys. */
export function readRecord(table: StreamTable, raw: RawRecord): StreamRecord | undefined {
  const { eventName: action, dynamodb: change, userIdentity } = raw
  if (action !== 'INSERT' && action !== 'MODIFY' && action !== 'REMOVE') return undefined
  const keys = change?.Keys as Item | undefined
  if (keys?.PK?.S === undefined || keys.SK?.S === undefined) return undefined
  const identity = userIdentity as { principalId?: string; PrincipalId?: string } | null | undefined
  const principal = identity?.principalId ?? identity?.PrincipalId
  return {
    table,
    action,
    keys,
    sequence: change?.SequenceNumber ?? '',
    isExpiry: action === 'REMOVE' && principal === TTL_PRINCIPAL,
    ...(change?.OldImage !== undefined && { before: change.OldImage as Item }),
    ...(change?.NewImage !== undefined && { after: change.NewImage as Item }),
  }
}
