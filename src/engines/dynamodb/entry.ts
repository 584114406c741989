import type { EngineEntry } from '../registry-entry.js'
import type { DynamodbOptions } from './index.js'
import { type DynamodbUrl, parseDynamodb, redactDynamodb } from './url.js'

export const dynamodbEntry: EngineEntry<DynamodbUrl, DynamodbOptions> = {
  forms: ['dynamodb://REGION/TABLE'],
  schemes: { dynamodb: parseDynamodb },
  facts: (url) => ({ shown: redactDynamodb(url) }),
  fields: {
    ...{ connectTimeoutMs: true, requestTimeoutMs: true, readTimeoutMs: true, writeTimeoutMs: true },
    ...{ batchTimeoutMs: true, maxAttempts: true, maxSockets: true, credentials: true, random: true },
    ...{ revalidateAfterMs: true, staleAfterMs: true, maxCachedLists: true, maxDifferences: true },
    ...{ daxEndpoint: true, counter: true, checkTables: true, topicArn: true, queues: true },
    ...{ probeIntervalMs: true, sizes: true, idempotencyReadFirst: true, limitClock: true },
    ...{ now: true, monotonicMs: true, report: true },
  },
  async open(url, options, { report }) {
    const { openDynamodb } = await import('./index.js')
    return openDynamodb(url, { ...(report !== undefined && { report }), ...options })
  },
  async diagnose(url, options, use, where) {
    const { diagnoseDynamodb } = await import('./diagnose/index.js')
    return diagnoseDynamodb(url, options, use, where)
  },
  checks: async () => (await import('./diagnose/index.js')).DYNAMODB_CHECKS,
}
