import {
  type Check,
  type CheckResult,
  type Diagnosis,
  type Finding,
  ok,
  problem,
  reasonOf,
  runChecks,
  skipAll,
} from '../../../core/diagnosis.js'
import { DynamoClient } from '../client/client.js'
import { ServerClock } from '../client/server-clock.js'
import { DEFAULT_DYNAMODB } from '../defaults.js'
import type { DynamodbOptions } from '../options.js'
import type { TableState } from '../tables/table-facts.js'
import { describeTables } from '../tables/table-state.js'
import { TABLE_ROLES } from '../tables/tables.js'
import type { DynamodbUrl } from '../url.js'
import { RUNNING_CHECKS } from './running.js'
import { TABLE_CHECKS } from './tables.js'

/** Short: an operator who searches for a mistake should not wait for all attempts of a server. */
const PATIENCE = { maxAttempts: 2, connectTimeoutMs: 1000, requestTimeoutMs: 2000, readTimeoutMs: 3000 }

const credentialCheck: Check<DynamoClient> = {
  id: 'dynamodb.credentials',
  expects: 'The AWS SDK finds credentials.',
  remedy: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine or pod a role.',
  async run({ sdk }) {
    try {
      await sdk.config.credentials()
      return ok(`found, for ${await sdk.config.region()}`)
    } catch (error) {
      return problem(`none: ${reasonOf(error)}`)
    }
  },
}

const connectCheck: Check<CheckResult> = {
  id: 'dynamodb.connect',
  expects: 'The tables can be described.',
  remedy:
    'Correct the region, the endpoint or the network, and allow DescribeTable, DescribeTimeToLive and DescribeContinuousBackups.',
  run: (verdict) => verdict,
}

const CHECKS = [...TABLE_CHECKS, ...RUNNING_CHECKS]

export const DYNAMODB_CHECKS: readonly Check<never>[] = [credentialCheck, connectCheck, ...CHECKS]

/** Read-only, except for the probe that every pod sends through the stream. */
export async function diagnoseDynamodb(
  url: DynamodbUrl,
  options: DynamodbOptions,
  { hasAllowlists, now = Date.now }: { hasAllowlists: boolean; now?: () => number },
  where: string,
): Promise<Diagnosis> {
  const { region, endpoint } = url
  const { credentials, topicArn, queues, probeIntervalMs = DEFAULT_DYNAMODB.probeIntervalMs } = options
  const serverClock = new ServerClock(now)
  const given = {
    ...(credentials !== undefined && { credentials }),
    ...(endpoint !== undefined && { endpoint }),
  }
  const client = new DynamoClient({ ...PATIENCE, ...given, region, serverClock })
  try {
    const findings: Finding[] = await runChecks([credentialCheck], client, { where })
    if (findings.some(({ level }) => level === 'problem')) {
      return {
        findings: [...findings, ...skipAll([connectCheck, ...CHECKS], 'there are no credentials', where)],
      }
    }
    const { tables, verdict } = await describe(client, url)
    findings.push(...(await runChecks([connectCheck], verdict, { where })))
    if (tables === undefined)
      return { findings: [...findings, ...skipAll(CHECKS, 'no table can be described', where)] }
    const feed = { hasAllowlists, probeIntervalMs, topicArn, queues: { region, ...queues } }
    const context = { url, client, serverClock, tables, ...feed, now }
    return { findings: [...findings, ...(await runChecks(CHECKS, context, { where }))] }
  } finally {
    client.close()
  }
}

async function describe(
  client: DynamoClient,
  { tables: names }: DynamodbUrl,
): Promise<{ tables: TableState[] | undefined; verdict: CheckResult }> {
  try {
    const tables = await describeTables(client.sdk, names, TABLE_ROLES)
    return { tables, verdict: ok('it answers') }
  } catch (error) {
    return { tables: undefined, verdict: problem(reasonOf(error)) }
  }
}
