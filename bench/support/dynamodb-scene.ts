import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CreateTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { type DynamodbEngine, openDynamodb } from '../../src/engines/dynamodb/index.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import { startQueues } from '../../test/support/dynamodb-queues.js'
import {
  CREDENTIALS,
  CREDENTIALS_ENV,
  type Emulator,
  startDynamo,
} from '../../test/support/dynamodb-server.js'
import type { FromPod } from './dynamodb-pod.js'
import { heard } from './proof.js'

const POD = fileURLToPath(new URL('./dynamodb-pod.js', import.meta.url))
const RELAY = fileURLToPath(new URL('../../test/support/dynamodb-relay-process.js', import.meta.url))
const RELAY_LEASE_MS = 1500

/** A table with its stream, a topic, queues; relays and pods as processes of their own. */
export interface DynamodbScene {
  engine: DynamodbEngine
  queueOptions: Awaited<ReturnType<typeof startQueues>>['clientOptions']
  /** Without a topic a pod hears of changes by looking. */
  startPod(hasTopic?: boolean): Promise<ChildProcess>
  startRelay(): Promise<ChildProcess>
  close(): Promise<void>
}

export async function openScene(emulator: Emulator): Promise<DynamodbScene> {
  const [server, queues] = await Promise.all([startDynamo(emulator), startQueues()])
  const names = server.names()
  const admin = server.client()
  await createTables(admin.sdk, names, ['allowlists', 'giant', 'idempotency', 'guards'])
  const store = server.url(names)
  const sns = new SNSClient(queues.clientOptions)
  const { TopicArn: topicArn = '' } = await sns.send(new CreateTopicCommand({ Name: 'changes' }))
  sns.destroy()
  const engine = await openDynamodb(parseStoreUrl(store) as DynamodbUrl, { credentials: CREDENTIALS })
  const children: ChildProcess[] = []
  const env = { ...process.env, ...CREDENTIALS_ENV, AWS_ENDPOINT_URL_SNS: queues.endpoint }
  const start = (file: string, args: string[]): ChildProcess => {
    const child = fork(file, args, { env, execArgv: [], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    children.push(child)
    return child
  }
  return {
    engine,
    queueOptions: queues.clientOptions,
    async startPod(hasTopic = true) {
      const pod = start(POD, [store, hasTopic ? topicArn : '', queues.endpoint])
      await heard<FromPod, 'ready'>(pod, 'ready')
      return pod
    },
    async startRelay() {
      const relay = start(RELAY, [store, String(RELAY_LEASE_MS), topicArn])
      await once(relay.stdout!, 'data')
      return relay
    },
    async close() {
      for (const child of children) child.kill('SIGKILL')
      await engine.close()
      await Promise.all([server.stop(), queues.stop()])
    },
  }
}
