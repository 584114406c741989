import type { _Record as SdkRecord } from '@aws-sdk/client-dynamodb-streams'
import type { Item } from '../client/attributes.js'

/** The tables whose streams are read. */
export type StreamTable = 'allowlists' | 'giant'

/** One change of one item, from a stream. */
export interface StreamRecord {
  table: StreamTable
  /** Within its stream shard. */
  sequence: string
  action: 'INSERT' | 'MODIFY' | 'REMOVE'
  keys: Item
  before?: Item
  after?: Item
  /** Deleted by DynamoDB's TTL. */
  isExpiry: boolean
}

/** A record of the Streams API or, with binary in base64, of Lambda. */
type RawRecord = Pick<SdkRecord, 'eventName' | 'userIdentity' | 'dynamodb'> | LambdaRecord

export interface LambdaRecord {
  eventName?: string | undefined
  eventSourceARN?: string | undefined
  /** Lambda writes it in lower case, the Streams API with a capital. */
  userIdentity?: { principalId?: string; type?: string } | null | undefined
  dynamodb?: { SequenceNumber?: string; Keys?: object; NewImage?: object; OldImage?: object } | undefined
}

const TTL_PRINCIPAL = 'dynamodb.amazonaws.com'

/** Undefined if it is not a change of an item with our keys. */
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
