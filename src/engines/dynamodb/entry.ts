import type { EngineEntry } from '../registry-entry.js'
import { DEFAULT_DYNAMODB } from './defaults.js'
import type { DynamodbOptions } from './options.js'
import { type DynamodbUrl, parseDynamodb, redactDynamodb } from './url.js'

export const dynamodbEntry: EngineEntry<DynamodbUrl, DynamodbOptions> = {
  forms: ['dynamodb://REGION/TABLE'],
  schemes: { dynamodb: parseDynamodb },
  facts: (url) => ({ shown: redactDynamodb(url), isRemote: true }),
  fields: {
    ...{ connectTimeoutMs: true, requestTimeoutMs: true, readTimeoutMs: true, writeTimeoutMs: true },
    ...{ batchTimeoutMs: true, maxAttempts: true, maxSockets: true, credentials: true, random: true },
    ...{ revalidateAfterMs: true, staleAfterMs: true, maxCachedLists: true, maxDifferences: true },
    ...{ daxEndpoint: true, counter: true, checkTables: true, topicArn: true, queues: true },
    ...{
      probeIntervalMs: true,
      shareIntervalMs: true,
      sizes: true,
      idempotencyReadFirst: true,
      splitLimits: true,
      limitClock: true,
    },
    ...{ now: true, monotonicMs: true, report: true },
  },
  async open(url, options, { report, compareIntervalMs = Number.POSITIVE_INFINITY }) {
    const { openDynamodb } = await import('./index.js')
    const { shareIntervalMs = DEFAULT_DYNAMODB.shareIntervalMs } = options
    // Who compares more often than the leader reads would only learn the same again.
    const isShared = compareIntervalMs >= shareIntervalMs
    const given = { ...(report !== undefined && { report }), ...options }
    return openDynamodb(url, isShared ? given : { ...given, shareIntervalMs: 0 })
  },
  async diagnose(url, options, use, where) {
    const { diagnoseDynamodb } = await import('./diagnose/index.js')
    return diagnoseDynamodb(url, options, use, where)
  },
  checks: async () => (await import('./diagnose/index.js')).DYNAMODB_CHECKS,
}
