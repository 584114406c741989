/**
 * Messages about changes, with the names of the source design and a few more. Messages may be lost, repeated or late:
 * they say what to read (list, shard, sequence), and the log says what happened.
 */
export type FeedMessage =
  | {
      type: 'CUSTOMER_CHANGED'
      allowlistId: string
      shard: number
      sequence: number
      /** Absent if one message is about many customers. */
      customerId?: string
      action?: 'INSERT' | 'MODIFY' | 'REMOVE'
      /** The number of customers, if there are many. */
      customers?: number
    }
  | { type: 'BLOOM_UPDATED'; allowlistId: string; version: string }
  | { type: 'ALLOWLIST_CHANGED'; allowlistId: string }
  | { type: 'ALLOWLIST_REPLACED'; allowlistId: string; shard: number; sequence: number }
  | { type: 'ALLOWLIST_DELETED'; allowlistId: string }

const TYPES: readonly FeedMessage['type'][] = [
  'CUSTOMER_CHANGED',
  'BLOOM_UPDATED',
  'ALLOWLIST_CHANGED',
  'ALLOWLIST_REPLACED',
  'ALLOWLIST_DELETED',
]

/** Publishes messages. After a failure the caller must repeat it. */
export interface MessageSink {
  publish(messages: readonly FeedMessage[]): Promise<void>
}

export const NO_SINK: MessageSink = { publish: async () => {} }

/** Changes of more customers than this are published as one message. */
export const MAX_TOLD_ONE_BY_ONE = 10

/** The list that a queue message is about; undefined if it is not one of our messages. */
export function readMessage(body: string): Pick<FeedMessage, 'type' | 'allowlistId'> | undefined {
  const outer = objectOf(body)
  // Without raw delivery, SNS wraps the message in an envelope.
  const inner = typeof outer?.Message === 'string' ? objectOf(outer.Message) : outer
  const { type, allowlistId } = inner ?? {}
  const known = TYPES.find((one) => one === type)
  return known !== undefined && typeof allowlistId === 'string' ? { type: known, allowlistId } : undefined
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
