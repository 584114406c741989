import { after, before } from 'node:test'
import type { OpenOptions } from '../../../src/app/open-catraca.js'
import { makeTables } from '../../support/dynamodb-engine.js'
import { CREDENTIALS, type DynamoServer, startDynamo } from '../../support/dynamodb-server.js'
import { type RedisServers, startSingle } from '../../support/redis/index.js'

export interface EngineUnderTest {
  /** Options that open an empty store. */
  open(): Promise<OpenOptions>
  /** From now on it does not answer, and then it does again. Absent: the engine is in the process. */
  readonly away?: { pause(): void; resume(): void }
}

/** The three engines. Their servers run as long as the `describe` that asks for them. */
export const ENGINES: Readonly<Record<string, () => EngineUnderTest>> = {
  embedded: () => ({ open: async () => ({}) }),
  Redis: () => {
    let redis: RedisServers
    before(async () => {
      redis = await startSingle()
    })
    after(() => redis.stop())
    return {
      open: async () => {
        await redis.flush()
        return { store: redis.storeUrl }
      },
      away: { pause: () => redis.servers[0]!.pause(), resume: () => redis.servers[0]!.resume() },
    }
  },
  DynamoDB: () => {
    let dynamo: DynamoServer
    before(async () => {
      dynamo = await startDynamo()
    })
    return {
      open: async () => ({
        store: dynamo.url((await makeTables(dynamo)).names),
        dynamodb: { credentials: CREDENTIALS },
      }),
      away: { pause: () => dynamo.pause(), resume: () => dynamo.resume() },
    }
  },
}
